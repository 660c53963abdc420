"""Processes of ours on this machine: how they are started, and what they want of their interpreter."""
