"""In which tongue a text is written, by the short words that hold its sentences together, or by its alphabet. Pure.

A few words of each tongue are enough, and few that English has as well: output is mostly English, or of no tongue.
"""

from __future__ import annotations

from functools import lru_cache

from trajcompress.processes.late_patterns import late_re

_WORD = late_re(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LETTER = late_re(r"[^\W\d_]")
_FOREIGN = late_re(r"[^\W\d_\x00-\u036f]")  # letters of other alphabets than the Latin one
_UNSPACED = late_re(r"[\u3040-\u30ff\u3400-\u9fff]{5}")
_OF_UNSPACED = late_re(r"[\u3040-\u30ff\u3400-\u9fff]")
ENGLISH = "en"
OTHER_ALPHABET = "other"
_SHORT_WORDS = {
    ENGLISH: (
        "the a an of to and in is are was were for on with that this it its as be at by or from has have not "
        "but if so"
    ),
    "de": (
        "ich mir mich mein meine nicht und der das ist ein eine einen auch aber noch nur bitte dann wenn für "
        "mit auf doch mal schon wir wie dass du den dem von zu zum zur statt bei nach aus sich es ja nein"
    ),
    "fr": (
        "je j'ai moi mon ma mes pas ne et le les une est que qui pour avec dans mais aussi ce c'est il elle "
        "nous vous tu oui des du au aux en si comme s'il là ça de"
    ),
    "es": (
        "yo mi y el los las un una es que para con pero también lo por si más del está sí muy al como ya esa "
        "ese esto de en"
    ),
    "pt": (
        "eu meu minha não os um uma é que para com mas também por mais da das dos está você tô isso já na sim "
        "muito ao o de em pode"
    ),
    "it": (
        "io mi mio non il gli un una è che per con ma anche più di del della sono però già questo quella si al nel"
    ),
    "pl": "mi mój nie w na że się jest z ale też jak tylko już co proszę od dla czy tak jeszcze po ten ta nic",
    "nl": ("ik mij mijn niet en het een dat voor met op maar ook als je nog geen van dit die naar wel even ja nee"),
    "tr": "ben bana bir ve bu da için ama ile var yok çok lütfen değil daha sadece gibi olarak evet",
    "id": "saya aku tidak dan yang di ini itu untuk dengan tapi juga ada jangan bisa dari ke saja ya sudah",
    "sv": "jag inte och det är en att på med för men också som av till har vi den här ja nej",
    "da": "jeg ikke og det er at på med for men også som af til har vi den her ja nej kun",
    "cs": "já ne je se na že s ale také jen už prosím ten ta to jako od pro ano ještě",
    "ro": "nu și este pe cu că dar mai un o la de din să am da doar",
    "hu": "nem és az hogy van meg csak de egy ez is igen kérem még már",
    "fi": "ei ja on se että mutta myös vain kun ole niin kyllä joka",
    "vi": "không và là của có tôi cho được này các một thì đã với",
}
_TONGUES = {tongue: frozenset(words.split()) for tongue, words in _SHORT_WORDS.items()}
_LEAST_SHARE, _LEAST_WORDS = 0.14, 2  # of the words of a sentence are such
_PROSE = 0.2  # of the words of an English text
_SELDOM = 0.05


def tongue_of(sentence: str, requests: str) -> str:
    """Return the tongue of a sentence that requests are written in, too, ``other`` of another alphabet; else nothing.

    English only where it is none of the others.
    """
    asked, other = _asked(requests)
    if other > _SELDOM and _is_foreign(sentence):
        return OTHER_ALPHABET
    words = words_of(sentence)
    counts = {tongue: sum(map(short.__contains__, words)) for tongue, short in _TONGUES.items()}
    accented = sum(not word.isascii() for word in words)
    found = [
        tongue
        for tongue, short in _TONGUES.items()
        if counts[tongue] and len(asked & short) >= _LEAST_WORDS and tongue != ENGLISH
        if counts[tongue] + accented >= max(_LEAST_WORDS, _LEAST_SHARE * len(words))
    ]
    return max(found, key=lambda tongue: counts[tongue]) if found else ENGLISH if sentence.isascii() else ""


@lru_cache(maxsize=16)  # of one row they are asked for again and again
def _asked(requests: str) -> tuple[frozenset[str], float]:
    return frozenset(words_of(requests)), share_of_other_letters(requests)


def _is_foreign(sentence: str) -> bool:
    """Whether half of the letters of a sentence are of another alphabet."""
    is_sentence = len(words_of(sentence)) > _LEAST_WORDS or _UNSPACED.search(sentence) is not None
    return is_sentence and share_of_other_letters(sentence) >= 1 / 2


def is_prose(text: str, tongue: str) -> bool:
    """Whether a text has sentences of a tongue, and not but words or names."""
    if tongue == OTHER_ALPHABET:
        is_sentence = _UNSPACED.search(text) if _OF_UNSPACED.search(text) else True
        return bool(is_sentence) and share_of_other_letters(text) > _SELDOM
    words = words_of(text)
    return sum(map(_TONGUES[tongue].__contains__, words)) > (_PROSE if tongue == ENGLISH else _SELDOM) * len(words)


def words_of(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def share_of_other_letters(text: str) -> float:
    """Return which share of the letters of a text is of another alphabet than the Latin one."""
    return 0.0 if text.isascii() else len(_FOREIGN.findall(text)) / max(len(_LETTER.findall(text)), 1)
