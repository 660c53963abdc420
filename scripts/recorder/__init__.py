"""Records a scripted agent at work on public code: real tools, real output, no network."""
