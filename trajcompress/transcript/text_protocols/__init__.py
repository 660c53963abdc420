"""How agents act and are answered in plain text: what tells it of a turn, of a prompt, and of a whole row.

======================  ==============================================================================================
of a row                evidence: which turns are observations; by announced_actions and unnamed_actions (moves), and
                        by what turns have in common (turn_evidence, continued, delegated, replies, openings, tasks)
of a prompt             announced: forms of action that it defines; prompts: that something answers
of an assistant's turn  actions, by their forms (token_calls, written_calls, framed_calls, labelled_actions, elements,
                        exported, fences, fenced_actions, last_lines, command_lines, bare_commands; written_data: what
                        they hold); addressing: whether it speaks to somebody
of a user's turn        printed: whether an environment wrote it, or a person, by the tables of harness_forms and
                        harness_words; feedback of a harness; result_labels; observation_parts: result, wrapper, and a
                        person's words behind it; asides, tongues: who says these, where the text alone does not
                        tell; heard, answered_apart: several in one turn
======================  ==============================================================================================
"""
