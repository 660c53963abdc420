"""How harnesses and environments write results in turns of the user: a form a line, whose it is beside it. Pure.

A form that one program writes is added here, or to :mod:`trajcompress.transcript.text_protocols.harness_words`, and
rows that show it to ``tests/support/data/protocols``; how the forms are searched for stands with those that do. The
forms of one tuple are tried in its order.
"""

from __future__ import annotations

from trajcompress.transcript.text_protocols.result_labels import NAMED_RESULT, OF_COMMAND, OF_TOOL

_RULE = r"(?:-{10,} ?\d{0,4} ?-{10,}\s{1,4})?"  # on a console of AutoGen, maybe with the number of a message
_TURN = rf"{_RULE}(?:Next speaker: [^\n]{{1,80}}\s{{1,6}})?"
_SPEAKER = (
    rf"{_TURN}(?:>>>>>>>> [A-Z]{{3,12}} [^\n]{{1,120}}\s{{1,4}}){{0,4}}"
    rf"{_RULE}[\w.-]{{1,60}} \(to [\w.-]{{1,60}}\):\s{{1,4}}"
)
_ANOTHER_TRY = (  # what InterCode asks for behind a result
    r"(?:Try something different to generate|Analyze the output and think about) [^\n]{0,160} to get a reward of 1\."
    r"(?:\n[^\n]{0,200})?"
)
RESULT_SENTENCES = (
    # AutoGen, as the two below
    rf"{_TURN}>>>>>>>> (?:USING AUTO REPLY|EXECUTING (?:CODE BLOCK|FUNCTION))",
    r"exit ?code: -?\d{1,3} \((?:execution )?\w{2,12}\)",
    rf"{_SPEAKER}(?:\*{{5}} Response from calling (?:function|tool)|-{{60,}}\s{{0,4}}\Z)",
    # CrewAI, in the agent's own voice
    (
        r"I encountered an error while trying to use the tool\.|I tried reusing the same input, I must stop "
        r"|Error: the Action Input is not a valid key, value dictionary"
        r"|You tried to use the tool [^\n]{1,100}, but it doesn't exist\."
        r"|Action '[^'\n]{1,100}' don't exist, these are the only available Actions"
    ),
    r"[\w .-]{1,60} is not a valid tool, try (?:one of \[|another)",  # LangChain
    r"Error: Could not parse output\. Please follow the thought-action-input format",  # LlamaIndex
    # BrowserGym
    (
        r"# Observation of current step:|## Error from previous action:|#{1,4} State of the World\n"
        r"|#{1,4} (?:Currently [Oo]pen [Tt]abs|Current [Pp]age (?:Accessibility Tree|DOM))"
    ),
    r"\[(?:Action|Task) history memory ends\]|\[Current state starts here\]|<agent_history>\n",  # browser-use
    r"Execution failed\. Traceback:",  # AppWorld
    (
        r"The following \w{1,20} code has been executed:"
        r"|The execution of the generated \w{1,20} code above has (?:succeeded|failed)"
    ),  # TaskWeaver
    r"Unknown command '[^'\n]{1,80}'\. Please refer to the 'COMMANDS' list",  # AutoGPT
    r"Webshop ?\nInstruction: |\[Back to Search\] ?\n",  # WebShop
    r"\[\[ ## observation_\d{1,3} ## \]\]",  # DSPy
    r"The script has been executed\. Here is the output:",  # MLAgentBench
    r"The script ran(?:, then exited with (?:an error|Unix exit code)| but produced no output to console)",  # AutoGen
    r"No code blocks found in the thread\.",  # AutoGen
    r"\[(?:[\"'][^\n]{0,4000}\[)?FunctionExecutionResult\(content=",  # AutoGen, also of a team within a team
    r"Your proposed edit has introduced new syntax error",  # SWE-agent
    r"Result of search_\w{1,40}\([^\n]{0,300}\):[ \t]{0,4}\n",  # AutoCodeRover
    # aider
    (
        r"# Fix any errors below, if possible\.|The LLM did not conform to the edit format\."
        r"|# \d{1,3} SEARCH/REPLACE blocks? failed to match!"
    ),
    r"In front of you in this room, you can see ",  # BabyAI
    # Magentic-One's surfer
    (
        r"(?:(?:-{6,} ?\w[^\n]{0,60}\n)?[^\n]{0,150}\n{0,2} ?Here is a screenshot of (?:the webpage: )?"
        r"\[[^\n]{1,240}\n?|[^\n]{1,300}\n{1,3}"
        r"The web browser is open to the page \[[^\n]{1,400}\n)The viewport shows \d"
    ),
    # WebArena, BrowserGym
    (
        r"(?:URL: \S{1,400}\s{1,4})?(?:OBSERVATION:\s{1,4})?(?:Tab \d{1,2}[^\n]{0,600}\n\s{0,4})?"
        r"(?:\[\d{1,5}\] )?RootWebArea '"
    ),
    r"Out - Final answer: ",  # smolagents
    r"At turn \d{1,4}, you (?:made|guessed|tried|chose|entered) ",  # GEM
    r"\[GAME\] (?=\S)",  # TextArena
)
"""How observations begin in sentences of harnesses that nobody says, nor hands on to a chat."""
RESULT_BEGINS = (
    OF_TOOL,
    (
        r"<(?:returncode|observation|obs|tool_response|tool_result|tool_output|function_response"
        r"|function_results?|[Ee]xec\w{1,20}|command_output|information)\b[^>\n]{0,200}>"
    ),
    r"(?:Call id: [^\n]{1,80}\n)?[*#]{0,4} ?(?:OBSERVATION|Observation|Obs)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:",
    r"EXECUTION RESULT of \[",  # OpenHands
    r"<\|begin_(?:of_documents|search_result)\|>",  # R1-Searcher, Search-o1
    r"Intermediate answer:",  # self-ask
    r"Execution (?:output|result|log)s?\b[^\n]{0,60}:",  # R2E-Gym, smolagents
    r"#{1,3} Execution (?:output|result|log)s?\n",
    r"\[?(?:Execution|Tool|Function|Command) (?:result|output|response)\b[^\n]{0,60}[:\]]",
    r"TOOL (?:RESPONSE|RESULT|OUTPUT)\b",
    r"(?:Tool|Function|Command) [\w .-]{1,60} returned",  # AutoGPT
    r"Response from (?:the )?(?:tool|function|environment)",
    r"(?:Response|RESPONSE) from (?:the )?(?:component|worker|sub-?agent|service|server|expert)\b[^\n:]{0,80}:",
    r"Code executed:\s{1,4}```",  # recursive language models
    r"The output of the OS",  # AgentBench
    r"The result of executing that",
    NAMED_RESULT,
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
    r"> (?:Running \w{1,20} (?:code )?block|Executed Results:)",
    r"My previous action is invalid\.",
    r"Thank you for shopping with us! Your code:",  # WebShop
    r"<\|observation\|>",
    r"<｜tool▁outputs?▁begin｜>",
    r"<\|(?:tool|begin\w{0,20})_(?:response|result|output)s?\|>",
    r"I don't understand your input\.",
    r"\[TOOL_RESULTS\]",
    r"✿RESULT✿",  # Qwen's agents
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
    # aider
    r"Tokens: [\d.,k]{1,9} sent, [\d.,k]{1,9} received\.",
    (
        r"> (?:Tokens: [\d.,k]{1,9} sent|Applied edit to |Allow (?:edits to|creation of new file) "
        r"|Commit [0-9a-f]{7} |Add [^\n]{1,200} to (?:git|the chat)\?)"
    ),
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
    r"API output: ",  # tau-bench
    r"Variable #\d{1,3}, which are instances of ",  # AgentBench
    r"-= [\w' -]{1,40} =-\n",  # TextWorld
    *RESULT_SENTENCES,
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
    r"Now let's retry: take care not to repeat previous errors![^\n]{0,200}",  # smolagents
    _ANOTHER_TRY,  # InterCode
)
"""How observations end, and nothing that people write."""
BODY_OPENS = (
    # AutoGen
    (
        rf"{_SPEAKER}(?:\*{{5}} Response from calling (?:function|tool)[^\n]{{0,120}}\n{_RULE}"
        r"|exit ?code: -?\d{1,3} \([^)\n]{0,40}\)\s{0,4}(?:Code output:[ \t]?)?)?"
    ),
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
    r"✿RESULT✿:? ?\n?",  # Qwen's agents
    rf"{NAMED_RESULT}\n?",
    r"\[Tool(?: \(Error\))?\]\n",
    r"exit ?code: -?\d{1,3} \([^)\n]{0,40}\)\s{0,4}(?:Code output:[ \t]?)?",  # AutoGen
    r"(?:MySQL Database|Bourne Shell|Python) Output: ",  # InterCode
)
"""What stands before the body of an observation, beside tags."""
BODY_CLOSES = (
    r"(?:\n\*{20,100})?\s{1,4}-{60,100}\s{0,4}\Z",  # AutoGen, on a console
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
    rf"\n\s{{0,8}}(?:Here is the query again: [^\n]{{0,2000}}\n\s{{0,8}})?{_ANOTHER_TRY}\s{{0,4}}\Z",
    (
        r"\n\s{0,8}You have \d{1,3} steps? left and \d{1,3} chances? to propose solution left\."
        r"(?:\s{1,4}You should take the last step to propose a solution\.)?\s{0,8}\Z"
    ),  # MINT
    # AI Scientist
    (
        r"\n\s{0,8}Decide if you need to re-plan your experiments given the result[^\n]{0,200}\n"
        r"(?:[^\n]{0,1000}\n){0,12}If you are finished with experiments, respond with 'ALL_COMPLETED'\.?\s{0,4}\Z"
    ),
    (
        r"\n\s{0,4}\(REMEMBER: if you need to proceed to using non-`browser_action` tools[^\n]{0,400}\)"
        r"(?:\s{1,4}\[Image\])?\s{0,4}\Z"
    ),  # Cline, as the next
    r"\n\s{0,4}You will be updated on the terminal status and new output in the future\.\s{0,4}\Z",  # Cline
)
"""What stands behind the body of an observation, beside tags."""
BODY_CLOSES_SIGNS = (
    f"\n{20 * '*'}",
    f"\n{50 * '-'}",
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
    "Try something different to ",
    "Analyze the output and ",
    "Here is the query again: ",
    "You have ",
    "Decide if you need to re-plan",
    "(REMEMBER: if you need to proceed ",
    "You will be updated on ",
    "\n>",
    "<|/tool_",
    "<|end_",
    "[/TOOL_RESULTS",
    "Last output ",
)
"""One is where any of :data:`BODY_CLOSES` begins, but for spaces."""
BEFORE_PRINTED = (
    r"\s{0,4}(?:\*\*[A-Z][\w ]{0,30}:\*\* `[^`\n]{0,80}`(?: \| )?){2,8}[ \t]{0,4}\n",  # OpenClaw
    r"\s{0,4}Here's the result of running [^\n]{0,400}\n",
    r"\s{0,4}succeeded in [\d.]{1,9} ?m?s:(?:\n|\s{0,4}\Z)",  # Codex CLI
    r"\s{0,4}Command executed\.\nOutput:\n(?=\S)",  # Cline
    r"\s{0,4}Command executed in terminal [^\n]{0,400}\. Exit code: 0\nOutput:\n(?=\s{0,8}\S)",  # Roo Code
    # Cline
    (
        r"\s{0,4}The browser action has been executed\. The console logs and screenshot have been captured for your "
        r"analysis\.\s{1,4}(?=\S)"
    ),
    r"\s{0,4}\[Below is the output of the previous command\.\]\n",  # OpenHands
    # WebVoyager
    (
        r"\s{0,4}please analyze the attached screenshot and give the Thought and Action\. I've provided the tag name "
        r"[^\n]{0,400}\n(?=\S)"
    ),
    r"\s{0,4}Run \d{1,4} completed\. Here are the results:\n(?=\S)",  # AI Scientist
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
