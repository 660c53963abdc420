"""What prompts promise in sentences of any tongue: that a program, or a person, answers what is written. Pure.

Of each tongue: what a program is called and what it does then, and what whoever writes is told to get. The nouns are
of programs alone: people who ask for help speak of scripts and servers as well, so these need more than a verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from trajcompress.processes.late_patterns import holds_any, late_re

_MOST = 20  # of what is found
_SENTENCE_CHARS = 200
_END = late_re(r"[.!?。！？\n]")
_YOU = late_re(
    r"(?<!\w)(?:you|your|du|dir|dich|dein\w{0,2}|tu|te|t'|vous|votre|tes|ti|tuo|tua|cię|ci|twoj\w+|jij|jouw"
    r"|recibirás|verás|obtendrás|receberás|você|dostaniesz|otrzymasz|zobaczysz|получи\w+|увиди\w+|тебе|ты)(?!\w)|你|您|あなた|호출|呼び出し"
)

_Promise = tuple[tuple[str, ...], re.Pattern[str]]
"""What one of is a part of all that a pattern finds, and the pattern, of small letters."""


def _subject(nouns: str, between: str, verbs: str) -> re.Pattern[str]:
    """A program that does something: at most so many words stand between its name and its verb."""
    return late_re(rf"(?<!\w)(?:{nouns})\b (?:{between})?(?:{verbs})\b")


def _given(who: str, what: str) -> re.Pattern[str]:
    """Somebody who is given what a program printed."""
    return late_re(rf"(?<!\w)(?:{who}) (?:[^\W\d_][\w']*,? ){{0,4}}?(?:{what})\b")


_ACTS = (  # English verbs of what is done with commands
    "runs?|executes?|applies|apply|checks?|plays?|answers?|replies|reply|responds?|reports?|returns?|prints?|posts?"
    "|validates?|renders?|evaluates?|compiles?|lists?|tells?|sends?|relays?|carries|shows?|speaks?|measures?|judges?"
    "|takes?"
)
_TAKEN_HINTS = (
    *(
        "your",
        "you ",
        "feedback",
        "go",
        "passed",
        " to ",
        "follow",
        "back",
        "message",
        "executed",
        " run",
        "attached",
        "connected",
    ),
)
_TAKEN = late_re(
    r"\byour (?:\w+ )?(?:turn|message|repl[yi]|answer|line|output|code|command|script|quer[yi]|sql|program"
    r"|patch|move)(?:e?s)? (?:is|are|will be|gets?) (?:\w+ )?"
    r"(?:passed|forwarded|handed|interpreted|applied|compiled"
    r"|(?:sent|fed|given|written) (?:in)?to (?:the|an?))\b"
    r"|\b(?:whatever|everything|anything|what|(?:each|every|any) (?:line|message|word))(?: that)? you"
    r" (?:answer|reply|output|produce|write|send|type|say) is (?:\w+ )?"
    r"(?:run|executed|piped|passed|typed|sent|fed|evaluated|entered)\b"
    r"|\b(?:is|are) (?:run|executed|compiled|evaluated|rendered|applied)\b[.;,:]? (?:and )?(?:then )?"
    r"you(?:'ll| will)? (?:get|see|receive|are (?:shown|given|sent))\b"
    r"|\b(?:is|are) (?:your|the) (?:(?:only|sole|next) (?:input|message|observation)|feedback)\b"
    r"|\b(?:every|each|all|any) (?:\w+ )?(?:submission|message|answer|program|command|line|reply|patch)(?:e?s)?"
    r" (?:goes|go|is passed|are passed) (?:\w+ )?(?:through|to|into) (?:the|an?)\b"
    r"|\b(?:commands?|queries|requests|orders|instructions|statements|keystrokes) to (?:the|an?|its)"
    r" (?:[\w-]+ ){0,2}?(?:engine|shell|server|console|terminal|device|robot|database|repl|simulator|program"
    r"|emulator|machine)\b"
    r"|\b(?:value|exception|row|feedback|reading|log|output|result|reply|response)s?\b[^.\n]{0,40}\b(?:follows?"
    r"|comes? back)\b"
    r"|\bmessages? (?:is|are|holds?|contains?|shows?) [^.\n]{0,30}"
    r"\b(?:state|observation|screen|readings?|telemetry|board|output)\b"
    r"|\b(?:session|repl|shell|kernel|console|interpreter|terminal) is (?:attached|connected)\b"
    r"|\bnext (?:user )?message is what\b"
)
"""That what is written is run, or goes to a program, and that one sees what comes of it."""
_PROMISES: tuple[_Promise, ...] = (
    (
        (
            *("harness", "simulat", "executor", "runner", "orchestrat", "emulat", "schedul", "valida", "checker"),
            *("engine", "referee", "moderator", "linter", "grader", "renderer", "watcher", "test suite", "fleet"),
            *("program", "script", "bot", "tool", "service", "gateway", "bridge", "device", "kernel", "machine"),
            *("game", "world", "story", "send a", "type a", "issue a", "enter a", "the next"),
            *("bench", "it answers", "it replies", "it responds", "it echoes", "it reports"),
        ),
        late_re(
            r"(?<!\w)(?:the|an?|our|its) (?:[\w-]+ ){0,2}?(?:harness|simulat(?:or|ion)|executor|runner|orchestrator"
            r"|emulator|scheduler|validator|checker|engine|referee|moderator|linter|grader|renderer|watcher|bench"
            r"|test suite|fleet manager)s?(?: bots?)?"
            rf" (?:(?:is|are|will be) (?:run|executed)|(?:[\w,]+ ){{0,2}}?(?:{_ACTS}))\b"
            r"|\b(?:the|an?|our) (?:[\w-]+ ){0,3}?(?:program|script|bot|robot|tool|service|gateway|bridge|device"
            r"|kernel|machine)\)? (?:then |will )?(?:executes?|runs?|fetch(?:es)?|carries out|performs?"
            r"|applies|notes|echoes|prints|answers|returns|renders)\b"
            r"|\bthe (?:game|world|story) (?:then )?(?:narrates|describes|tells|answers|replies|prints)\b"
            r"|(?:\A|[.!?:\n] ?)(?:send|type|issue|enter) (?:an?|the next) (?:[\w-]+ ){0,2}?"
            r"(?:command|query|order|call)\b"
            r"|\bit (?:answers|replies|responds|echoes|reports)\b"
            r"|\banswered by (?:the|an?) (?:[\w-]+ )?(?:simulat\w+|engine|program|environment|system|game|server)\b"
        ),
    ),
    (
        ("result", "answer", "repl", "response", "output", "report"),
        late_re(
            r"\b(?:results?|answers|replies|responses?|outputs?|reports?) (?:will )?(?:arrives?|comes?|appears?)"
            r" (?:back )?(?:as|in|between|inside|on|under|to you)\b"
        ),
    ),
    (
        (
            *("system", "programm", "server", "simulator", "umgebung", "datenbank", "konsole", "roboter", "skript"),
            *("anlage", "spiel"),
        ),
        _subject(
            "(?:das|der|die|ein|eine) (?:[a-z]+)?(?:system|programm|skript|server|simulator|umgebung|datenbank|spiel"
            "|konsole|roboter|anlage)",
            r"(?:\w+,? ){0,5}?",
            "schickt|gibt|zeigt|sendet|druckt|meldet|antwortet|liefert",
        ),
    ),
    (
        (
            "du bekommst",
            "du erhältst",
            "du siehst",
            "bekommst du",
            "erhältst du",
            "siehst du",
            "folgt",
            "sie erhalten",
        ),
        _given(
            "du (?:bekommst|erhältst|siehst)|(?:bekommst|erhältst|siehst) du|sie erhalten|befehl folgt|aktion folgt",
            r"ausgaben?|ergebnis\w{0,3}|rückgaben?|zeilen|zustand|antwort des \w+|dessen \w+|deren \w+",
        ),
    ),
    (
        ("système", "moteur", "programme", "serveur", "simulateur", "environnement", "terminal", "console", "jeu"),
        _subject(
            "(?:le|la|l'|un|une) ?(?:système|moteur|programme|serveur|simulateur|environnement|terminal|console|jeu"
            "|robot)",
            r"(?:te |vous |t'|lui |y )?",
            "renvoie|renverra|retourne|répond|répondra|affiche|donne|exécute",
        ),
    ),
    (
        ("tu reçois", "tu recevras", "tu verras", "vous recev", "vous verrez"),
        _given("tu (?:reçois|recevras|verras)|vous (?:recevez|recevrez|verrez)", "résultats?|sortie|réponse|état"),
    ),
    (
        ("sistema", "motor", "programa", "servidor", "simulador", "entorno", "terminal", "ambiente", "consola"),
        _subject(
            "(?:el|la|o|a|un|una|um|uma) (?:sistema|motor|programa|servidor|simulador|entorno|terminal|ambiente"
            "|consola|juego|jogo|robot)",
            r"(?:te |le |lhe )?",
            "devuelve|devolverá|responde|responderá|contesta|muestra|envía|devolve|mostra|envia|retorna|ejecuta"
            "|executa|imprime",
        ),
    ),
    (
        ("recibirás", "verás", "obtendrás", "receberás", "você receb", "você ver"),
        _given(
            "recibirás|verás|obtendrás|receberás|você (?:recebe|receberá|verá)",
            "respuesta del \\w+|salida|resultado|estado|resposta do \\w+|saída",
        ),
    ),
    (
        ("sistema", "motore", "programma", "server", "simulatore", "ambiente", "terminale"),
        _subject(
            "(?:il|lo|la|un|una) (?:sistema|motore|programma|server|simulatore|ambiente|terminale|gioco|robot)",
            r"(?:ti |le |gli )?",
            "restituisce|risponde|risponderà|mostra|invia|manda|stampa|esegue",
        ),
    ),
    (
        ("system", "programma", "server", "simulator", "omgeving", "terminal"),
        _subject(
            "(?:het|de|een) (?:systeem|programma|server|simulator|omgeving|terminal|spel|robot)",
            r"(?:\w+ ){0,2}?",
            "antwoordt|stuurt|geeft|toont|meldt",
        ),
    ),
    (
        ("system", "program", "środowisk", "serwer", "symulator", "terminal", "baza", "powłok", "gra ", "robot"),
        _subject(
            r"(?:system|program|środowisk\w+|serwer|symulator|terminal|baza|powłoka|gra|robot)",
            r"(?:\w+ ){0,3}?",
            "odpowie|odpowiada|zwraca|zwróci|wypisze|pokaże|wyśle|wypisuje",
        ),
    ),
    (
        ("dostaniesz", "otrzymasz", "zobaczysz"),
        _given("dostaniesz|otrzymasz|zobaczysz", r"wynik\w{0,3}|wyjście|odpowiedź \w+|to, co|stan|rezultat"),
    ),
    (
        ("получи", "увиди"),
        _given("(?:ты )?(?:получишь|увидишь|получите|увидите)", r"вывод|результат\w{0,2}|ответ \w+|состояние"),
    ),
    (
        ("主持人", "裁判", "シミュレータ", "呼び出し", "実行", "호출", "실행"),
        late_re(
            r"(?:主持人|裁判|庄家)(?:只|会|將|将|會|就|只会){1,2}(?:根据[^。\n，,]{0,12})?(?:回答|回复|告诉|公布)"
            r"|(?:呼び出し|実行|操作)(?:の)?結果(?:が|は)[^。\n]{0,12}(?:返|届|示|来)"
            r"|(?:호출|실행|명령) ?결과[가는은이][^.\n]{0,20}(?:옵니다|온다|돌아|주어|전달|반환)"
        ),
    ),
)


_RELAYED = late_re(
    r"\b(?:the|your|a) (?:user|person|human|learner|customer|client|colleague) (?:[\w']+ ){0,6}?"
    r"(?:(?:copy|copies|pastes?|relays?) (?:back )?"
    r"(?:what (?:he|she|they|it|is|appears)\b|the (?:result|output|text|answer|screen)|it (?:back|to)\b|you what)"
    r"|(?:reads?|writes?|types?|sends?|reports?) (?:back |out )?(?:what (?:he|she|they|it|is|appears)\b|the (?:result"
    r"|output)s?\b)|tells? you what|gives? you (?:a|an|the|their|his|her) (?:move|guess|roll|card|number|word)\b)"
    r"|\bthen (?:he|she|they) (?:will )?(?:copy|paste|tell|write|read)"
    r"|\b(?:he|she|they) (?:will |then )?(?:pastes?|copy|copies) (?:what|the)\b|\bnot connected to any\b"
    r"|\bnothing is (?:carried out|executed|run)\b|\bno access to the (?:user|person|customer)'s\b"
)
_RELAYED_HINTS = (
    *(" cop", " paste", " relay", " read", " write", " type", " send", " tell", "connected", "nothing", " give"),
    "no access",
)
_REMEMBERED = 64  # prompts, as the rows of a data set share a few


def is_taken(prompt: str) -> bool:
    """Whether a prompt, in small letters, says that whatever is written is run, or goes to a program."""
    return holds_any(prompt, _TAKEN_HINTS) and _TAKEN.search(prompt) is not None


def promises(system: str, asked: str) -> bool:
    """Whether a prompt, in small letters, says that a program takes or answers what is written.

    Args:
        system: its system turns. What these say of programs is said to whoever is to work with them.
        asked: all of it. A person who asks for help tells what programs do as well, but not to you.
    """
    for parts, pattern in _PROMISES:
        if holds_any(system, parts) and pattern.search(system) is not None:
            return True
        if holds_any(asked, parts) and any(map(_is_said_to_you, _sentences(pattern, asked))):
            return True
    return False


@lru_cache(maxsize=_REMEMBERED)
def is_relayed(prompt: str) -> bool:
    """Whether a prompt says that a person does what is written, and tells what comes of it."""
    prompt = prompt.lower()
    return holds_any(prompt, _RELAYED_HINTS) and _RELAYED.search(prompt) is not None


def _sentences(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the sentences in which a pattern is found."""
    for found in islice(pattern.finditer(text), _MOST):
        before = text[max(found.start() - _SENTENCE_CHARS, 0) : found.start()]
        behind = text[found.end() : found.end() + _SENTENCE_CHARS]
        yield _END.split(before)[-1] + found[0] + _END.split(behind, 1)[0]


def _is_said_to_you(sentence: str) -> bool:
    return _YOU.search(sentence) is not None
