"""Words that later turns take from results in scripts other than ASCII."""

from __future__ import annotations

import pytest

from trajcompress.facts.parts import parts_with
from trajcompress.facts.scripts import foreign_words
from trajcompress.facts.taken import telling_words, words_taken

CHINESE = (
    "G127次列车从北京南站出发，商务座剩余三张。\n"
    "K1109次列车为空调软卧，不供应餐车服务。\n"
    "车站的行李寄存处在地下一层。\n"
)
KOREAN = "현대자동차 주가는 올랐다.\n삼성전자 배당금은 그대로다.\n날씨가 맑다.\n"
RUSSIAN = "Столица Франции — Париж.\nНаселение Гренобля растёт.\nПогода хорошая.\n"
GERMAN = "Der Zug fährt heute nicht.\nHerr Gänßler wohnt in Tübingen.\nDas Wetter ist schön.\n"


@pytest.mark.parametrize(
    ("result", "says", "line"),
    [
        (CHINESE, "我建议您乘坐空调软卧，但没有餐车服务。", 1),
        (KOREAN, "삼성전자의 배당금을 확인했습니다.", 1),
        (RUSSIAN, "Я нашёл город Гренобль: население Гренобля растёт, Население велико.", 1),
        (GERMAN, "Ich rufe Gänßler in Tübingen an.", 1),
    ],
)
def test_the_line_that_a_later_turn_takes_up_is_told(result: str, says: str, line: int):
    taken = words_taken(["?", result, says], [False, True, False], [False, False, True])[1]
    parts = parts_with(result, taken, 200)
    lines = result.splitlines()
    assert any(result[start:end].strip() in lines[line] for start, end in parts)
    assert not any(result[start:end].strip() in lines[2] for start, end in parts)


def test_what_was_said_before_is_not_taken():
    assert words_taken(["空调软卧", CHINESE, "空调软卧"], [False, True, False], [False, False, True]) == {}


def test_signs_are_no_words():
    assert list(telling_words("… — “” · № → ✓ 。、")) == []


@pytest.mark.cpu_seconds(20)  # quadratic time would take hours
@pytest.mark.parametrize("run", ["a", "é", "的", "国", "가", "aé", "é-", "-a", "1a"])
def test_long_runs_take_linear_time(run: str):
    assert sum(1 for _ in foreign_words("é " + run * 1_000_000)) >= 1
