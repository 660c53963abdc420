"""The words of harnesses and environments in turns of the user: a form a line, whose it is beside it. Pure.

A form that one program writes is added here, and rows that show it to ``tests/support/data/protocols``; how the
forms are searched for stands with those that do. The forms of one tuple are tried in its order.
"""

from __future__ import annotations

from trajcompress.transcript.text_protocols.result_labels import OF_COMMAND, OF_TOOL

RESULT_BEGINS = (
    OF_TOOL,
    (
        r"<(?:returncode|observation|obs|tool_response|tool_result|tool_output|function_response"
        r"|function_results?|[Ee]xec\w{1,20}|command_output|information)\b[^>\n]{0,200}>"
    ),
    r"(?:Call id: [^\n]{1,80}\n)?[*#]{0,4} ?(?:OBSERVATION|Observation|Obs)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:",
    r"EXECUTION RESULT of \[",  # OpenHands
    r"Execution (?:output|result|log)s?\b[^\n]{0,60}:",  # R2E-Gym, smolagents
    r"\[?(?:Execution|Tool|Function|Command) (?:result|output|response)\b[^\n]{0,60}[:\]]",
    r"exit ?code: -?\d{1,3} \((?:execution )?\w{2,12}\)",  # AutoGen
    r"TOOL (?:RESPONSE|RESULT|OUTPUT)\b",
    r"(?:Tool|Function|Command) [\w .-]{1,60} returned",  # AutoGPT
    r"Response from (?:the )?(?:tool|function|environment)",
    r"The output of the OS",  # AgentBench
    r"The result of executing that",
    r"\[[\w-]{2,40}(?: for [^\]\n]{0,300})?\] Result:",  # Cline, Roo Code
    r"\[File: [^\n]{1,300} \(\d{1,7} lines total\)\]",  # SWE-agent
    r"(?:观察|观测|观察结果|执行结果|返回结果|工具返回|観察|観測|実行結果|관찰|실행 결과)(?:结果|結果)?[ \t]?[:：]",
    (
        r"(?:BEOBACHTUNG|Beobachtung|OBSERVACIÓN|Observación|OSSERVAZIONE|Osservazione|OBSERVAÇÃO|Observação"
        r"|НАБЛЮДЕНИЕ|Наблюдение)[ \t]?:"
    ),
    r"Here is the (?:response|result|output) (?:from|of) the [A-Z]{3,7} request\b",  # MedAgentBench
    r"Code output:",
    r"The code above was executed",
    r"(?:Error:\n)?Code execution failed at line '",  # smolagents
    r"```(?:tool_)?outputs?\n",  # Gemma, Open Interpreter
    r"Given the [^\n]{1,60} as below[:.]",
    r"Code from the last round:",
    r"\[OBSERVATION\]",
    r"\[OUTPUT OF STEP \d{1,3}\]",
    r"Reward:\n-?\d",  # RAGEN
    r"\(Result \d{1,3} ?/ ?\d{1,3}\) ",  # an encyclopedia that is looked up
    r"(?:Ran command: |Patch successfully applied to |(?:Saved|Appended) to )`",  # gptme
    # Magentic-One's surfer
    r"[^\n]{0,150}\n{0,2}Here is a screenshot of (?:the webpage: )?\[[^\n]{1,240}\n?The viewport shows \d",
    r"> (?:Running \w{1,20} (?:code )?block|Executed Results:)",
    r"My previous action is invalid\.",
    r"Thank you for shopping with us! Your code:",  # WebShop
    r"<\|observation\|>",
    r"<｜tool▁outputs?▁begin｜>",
    r"<\|(?:tool|begin\w{0,20})_(?:response|result|output)s?\|>",
    r"I don't understand your input\.",
    r"\[TOOL_RESULTS\]",
    r"I ran this command:",  # aider
    r"New Terminal Output:|Current terminal state:",  # Terminal-Bench
    r"\[(?:System|Environment|Env|Tool)\] ",
    r"\[Tool(?: \(Error\))?\](?:\n|\Z)",
    r"Run \d{1,4} completed\. Here are the results:|Run (?:failed with the following error|timed out after \d)",
    r"Executing the [\w ]{1,40} code above has the following error:",
    r"We trained a \w{1,20} policy using the provided ",  # Eureka
    (
        r"Your previous answer (?:failed to compile\. Here is the error|compiled successfully but"
        r"|was correct but can be made)"
    ),  # KernelBench
    r"> (?:Tokens: [\d.,k]{1,9} sent|Applied edit to |Allow edits to )",  # aider
    r"Observed output of cmd `",
    r"## Return of functions\.",  # Kimi
    r"\*\* (?:XML|Screen Info) \*\*\s",  # AndroidLab
    r"Round \d{1,3}\n\n<html",
    r"\[(?:Text|Image|Web) Search Results\] ",
    r"Searched results: <information>",
    r"[\w-]{1,40} model outputs: [\[{]",
    r"This answer got \w{1,20} verification error:",
    r"The last command <command>",  # SWE-agent
    r"I committed the changes with git hash [0-9a-f]{7}",  # aider
    r"Environment:",
    r"-{6,} ?(?!(?:user|human|User|Human)\b)[\w .()>-]{1,60}? ?-{6,}\n",
    r"The executed result for \w",
    r"<<< \w{1,20} >>>",
    r"\[GAME\] |\[Player \d\] ",  # TextArena
    r"Command not executed\. The user rejected (?:the|your) command\b",
    r"[^\n]{0,300}\[(?:SEP|button)\] ",  # WebShop
    r"\{\s{0,8}\"(?:kind|type)\": ?\"\w{0,40}_(?:observation|result|output|failure)\"",
    r"\{\s{0,8}\"observation\": ?\"",
    r"\{\"error\": \"[^\"\n]{0,300}\", \"response\": [\"{]",  # ToolBench
    r"Here'?s the result of running",
    r"Ran Playwright",
    r"Tool ran without output",
    r"Your command ran successfully",  # SWE-agent
    r"Old environment output",  # SWE-agent
)
"""How observations begin, and nothing that people write."""
RESULT_ENDS = (
    r"bash-\$",  # SWE-agent
    r"\(Current directory: [^\n]{0,200}\)\s{0,4}(?:bash-\$)?",
    r"\[(?:The command|Command|Python|Jupyter)\b[^\]\n]{0,200}\]",  # OpenHands
    (
        r"</(?:observation|obs|tool_response|tool_result|function_response|function_results?|exec\w{1,20}"
        r"|command_output)>"
    ),
    r"\[The command completed with exit code -?\d{1,3}\.\][^\n]{0,80}",  # OpenHands
)
"""How observations end, and nothing that people write."""
BODY_OPENS = (
    rf"(?:{OF_TOOL}|{OF_COMMAND})[ \t]?\n?",
    (
        r"(?:Call id: [^\n]{1,80}\n)?[*#]{0,4} ?(?:OBSERVATION|Observation|Obs)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:"
        r"[ \t]?\n?(?:Execution logs:[ \t]?\n)?"
    ),
    (
        r"(?:Exit code: [^\n]{1,60}\n)?Execution output of \[[^\]\n]{0,200}\]:?[ \t]?\n?(?:Exit code: -?\d{1,3}\n)?"
        r"(?:Execution output:[ \t]?\n)?(?:\[STDOUT\]\s{0,4})?"
    ),  # R2E-Gym
    r"-{6,} ?(?!(?:[Uu]ser|[Hh]uman)\b)[\w .()>-]{1,60}? ?-{6,}\n",
    r"EXECUTION RESULT of \[[^\]\n]{0,200}\]:?[ \t]?\n?",  # OpenHands
    r"TOOL (?:RESPONSE|RESULT|OUTPUT):?[ \t]?\n?",
    r"(?:Command|Tool|Function) [\w.-]{1,60} returned:?[ \t]?\n?",
    (
        r"\[?(?:Execution|Tool|Function|Command|API|Action|Environment) (?:result|output|response)\b"
        r"[^\n\[\]:]{0,60}[:\]]:?[ \t]?\n?"
    ),
    r"(?:Outputs|OUTPUTS|Results|RESULTS): ?\n?",
    r"(?:OUTPUT|Output|RESULT|Result|ERGEBNIS|Ergebnis|执行结果|观察|Beobachtung)[ \t]?(?:[:：][ \t]?\n?|\n)",
    # AgentBench, Terminal-Bench
    (
        r"(?:The output of the OS|New Terminal Output|Current terminal state):\s{0,4}"
        r"(?:Current Terminal Screen:\s{0,4})?"
    ),
    r"```tool_outputs?\n",  # Gemma
    r"(?:<｜tool▁outputs▁begin｜>\n?)?<｜tool▁output▁begin｜>\n?",  # DeepSeek
    r"<\|(?:observation|(?:tool|begin\w{0,20})_(?:response|result|output)s?)\|>\n?",
    r"\[TOOL_RESULTS\] ?",  # Mistral
    r"\[[\w-]{2,40}(?: for [^\]\n]{0,300})?\] Result:\n?",  # Cline, Roo Code
    r"\[Tool(?: \(Error\))?\]\n",
    r"exit ?code: -?\d{1,3} \([^)\n]{0,40}\)\s{0,4}(?:Code output:[ \t]?)?",  # AutoGen
)
"""What stands before the body of an observation, beside tags."""
BODY_CLOSES = (
    # EnIGMA, SWE-agent
    (
        r"(?:///PROCESS-DONE:-?\d{1,3}:PROCESS-DONE///)?"
        r"\n?\s{0,4}(?:\((?:Open file|Current directory|Interactive session): [^\n]{0,300}\)\s{0,4}){0,3}"
        r"(?:bash-\$)?\s{0,4}\Z"
    ),
    # OpenHands
    (
        r"(?:\n?\[(?:The command|Command|Current working|Python|Jupyter)\b[^\]\n]{0,200}\][^\n]{0,80}){1,4}\s{0,4}"
        r"(?:ENVIRONMENT REMINDER:[^\n]{0,200}\s{0,4})?\Z"
    ),
    r"\n\s{0,4}(?:\[STDERR\]|Thought:|>)\s{0,4}\Z",
    r"\n?<｜tool▁output▁end｜>\n?(?:<｜tool▁outputs▁end｜>)?\s{0,4}\Z",  # DeepSeek
    r"\n?<\|(?:/tool|end\w{0,20})_(?:response|result|output)s?\|>\s{0,4}\Z",
    r"\n?\[/TOOL_RESULTS\]\s{0,4}\Z",  # Mistral
    r"\n?Last output from code snippet:\nNone\s{0,4}\Z",  # smolagents
)
"""What stands behind the body of an observation, beside tags."""
BODY_CLOSES_SIGNS = (
    "///PROCESS-DONE",
    "(Open file: ",
    "(Current directory: ",
    "(Interactive ",
    "bash-$",
    "[The ",
    "[Comm",
    "[Current",
    "[Python",
    "[Jupyter",
    "<｜tool▁output▁end",
    "[STDERR]",
    "\nThought:",
    "\n>",
    "<|/tool_",
    "<|end_",
    "[/TOOL_RESULTS",
    "Last output ",
)
"""One is where any of :data:`BODY_CLOSES` is, but spaces."""
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
    r"(?:what (?:is|will be|should be)|choose) your next (?:action|move|step)\b",
    r"\btry again\b",
)
"""How harnesses ask for the next action, or for the same again, in any case."""
NEXT_ASKED = (
    r"What's the next step that you will do\b[^\n]{0,80}",
    r"Give me one action\.",
    r"Are you sure you want to mark the task as complete\?[^\n]{0,200}",  # Terminal-Bench
)
"""What harnesses ask for behind each result."""
BEFORE_PRINTED = (
    r"\s{0,4}Here's the result of running [^\n]{0,400}\n",
    r"\s{0,4}Command executed\.\nOutput:\n(?=\S)",  # Cline
    r"\s{0,4}File: [^\n]{1,1000}\n(?=Error: )",  # Kilo Code, of what could not be read
    r"\s{0,4}(?:[A-Z][^\n:]{0,80}:\s{1,4})?Command \S{1,80} returned:\s{1,4}(?=\S)",  # AutoGPT
    # MCP's server that fetches
    (
        r"(?:Content type [^\n]{0,120}? cannot be simplified to markdown, but here is the raw content:"
        r"(?:\s|\\n){1,4})?Contents of https?://[^\s\\]{1,2000}:(?:\s|\\n){1,4}(?=\S)"
    ),
)
"""What stands before what was printed, and tells nothing of it."""
WHAT_CAME = (
    r"Tool \[\w{1,40}\] was not executed because [^\n]{1,200}",  # Cline
    r"- [EFW]\d{3} [^\n]{1,200}",  # SWE-agent, as the four below
    r"This is how your edit would have looked[^\n]{0,40}",
    r"This is the original code before your edit",
    r"Your changes have NOT been applied[^\n]{0,80}",
    r"\[?File updated[^\n]{0,160}",
    r"<response clipped>[^\n]{0,300}",  # OpenHands
    r"</?output_(?:head|tail)>|</?elided_chars>",  # mini-SWE-agent
)
"""Lines that say what came of a call, and the frames of what was cut: half of one says something else."""
WHAT_CAME_SIGNS = (
    "was not executed",
    "our changes have NOT",
    "File updated",
    "<output_head>",
    "<response clipped>",
)
"""One is where any of :data:`WHAT_CAME` is."""
