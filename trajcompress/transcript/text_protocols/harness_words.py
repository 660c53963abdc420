"""What harnesses say of replies, and ask for, in turns of the user: a form a line, whose it is beside it. Pure."""

from __future__ import annotations

REPLY_REFUSED = (
    r"\[ERROR\] You did not use a tool",  # Cline
    r"Your (?:last |previous )?(?:output|response) was not formatted correctly",  # SWE-agent
    r"Please always provide EXACTLY",  # mini-SWE-agent
    r"Previous response had parsing errors",  # Terminal-Bench
    r"Please continue working on the task",  # OpenHands
    r"I don't understand your input",
    r"You did not use",
    r"No SQL code was found",
    r"Invalid Format: Missing '|Could not parse LLM output|Parsing LLM output produced both",  # LangChain
    r"Invalid or incomplete response\s{0,4}(?:\Z|Thought:)",  # LangChain
    r"Sorry, I didn't use the right format\. I MUST |I did it wrong\. Invalid Format: ",  # CrewAI
    r"Error: Could not parse output\. Please follow the thought-action-input format",  # LlamaIndex
)
"""How it begins where a harness says that it read no action."""
FEEDBACK = (
    r"your query or result is same\b",
    r"\bexecutor failed to complete\b",
    r"\A\s{0,8}unknown tool '",
    (
        r"your (?:last |previous )?(?:output|response|command|action|message|proposed|edit|input|code|plan|move|guess"
        r"|choice|selection)\b.{0,80}\b(?:not|error|invalid|fail\w*|empty|could|introduced|incorrect)"
    ),
    r"invalid (?:action|format|command|response|json)",
    (
        r"(?:no|exactly one|more than one|multiple) (?:valid |\w{2,6} )?(?:action|command|code|code block"
        r"|function|tool)s?\b"
    ),
    (
        r"(?:action|command|move|request) (?:is |was )?(?:not recogni[sz]ed|ambiguous|illegal|not (?:valid|allowed"
        r"|available|understood))"
    ),
    r"your answer is (?:wrong|correct|incorrect)",
    r"\byou have \d{1,3} (?:steps?|tries|attempts?|guesses|turns?) left",
    r"(?:could|can) ?not (?:be )?(?:read|parsed?|understand|understood)\b",
    r"\bdid not understand\b",
    r"\bone [^.\n]{1,20} at a time",
    r"\b(?:patch|edit|change|diff)s? (?:was|were|has been|have been|could not be)(?: successfully)? applied\b",
    r"\A\s{0,8}(?:all tests passed|error (?:while running|executing action))\b",
    r"\A\s{0,8}test cases? (?:did not pass|failed|passed)\b",
    r"\A\s{0,8}(?:command timed out|malformed command)\s{0,8}\Z",
    r"\A\s{0,8}the buggy locations is not precise\b|\A\s{0,8}here are the code in buggy locations\b",  # AutoCodeRover
    r"ambiguous (?:request|command|action)",
    (
        r"please (?:check|choose|select|enter|pick) (?:\w+ ){0,6}?(?:action|command|number|option|move|function|name"
        r"|format|parameter|argument|spelling)s?\b"
    ),
    r"(?:please|try to) (?:choose|resubmit|submit|guess|move|act) (?:again|a valid)",
    r"\binvalid move\b",
    r"格式错误|请重新(?:输入|选择|提交)",
    r"\boutput of [\w.-]{1,30} is as follows",
    (
        r"(?:failed to compile|had errors|did not (?:compile|pass)|tests? failed)\b[^\n]{0,40}please (?:fix|correct"
        r"|try|revise)"
    ),
    r"format(?:ting)? error",
    r"parsing error",
    r"failed to (?:match|parse)",
    r"you did not use",
    r"fix any (?:\w+ )?errors",
    (
        r"(?:please|must|should) (?:always )?(?:include|provide|respond|output|use|continue)\b.{0,80}"
        r"\b(?:exactly one|one of|action|command|format|block|tool|task)s?"
    ),
    r"(?:nothing|no) (?:happens|happened|effect|output)\b",  # ALFWorld
)
"""What harnesses say of an action or an answer, in small letters: that it was wrong, did nothing."""
NAGGING = (
    r"what'?s (?:next|the next step)\b",
    r"what is the response to my last comment\b",
    r"please fix these issues and provide\b",
    r"\byou have (?:used )?\d+ ",
    r"\bexactly one (?:action|command|tool)\b",
    r"\bthe user did not\b",
    r"please (?:call|proceed|continue)\b",
    r"\b(?:choose|pick|select|try) (?:another|a different) (?:tool|action|command|function)\b",
    r"\bgive me (?:one|the next|your next|an?|another) (?:action|command|step|move)\b",
    (
        r"\b(?:now|please) (?:output|give|provide|write|choose|select|enter|issue) (?:an?|the|your|one) (?:next )?"
        r"(?:action|command|move|step|call)\b"
    ),
    r"please (?:provide the (?:next|correct)|correct this) step\b",
    r"please try a new approach\b",
    r"please (?:take|perform|execute) (?:the|your) next (?:action|step|move)\b",
    r"(?:what (?:is|will be|should be)|choose) your next (?:action|move|step|instruction|command)\b",
    r"\btry again\b",
)
"""How harnesses ask for the next action, or for the same again, in any case."""
NEXT_ASKED = (
    r"What's the next step that you will do\b[^\n]{0,80}",
    r"Give me one action\.",
    r"Are you sure you want to mark the task as complete\?[^\n]{0,200}",  # Terminal-Bench
)
"""What harnesses ask for behind each result."""
