"""What a terminal shows beside output is no outcome: prompts, what was typed, and what only a terminal reads."""

from __future__ import annotations

import json

import pytest
from screens import AT, typed
from told import action, read, result_line

from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.shell_screen import read_screen
from trajcompress.outcomes.text import uncoloured

WIDTH = 100


def wrapped(line: str) -> str:
    """A line as a screen shows it that is so wide."""
    return "\n".join(line[at : at + WIDTH] for at in range(0, len(line), WIDTH))


def output(screen: str, did: Action | None = None) -> str | None:
    shown = read_screen(screen, did)
    return None if shown is None else shown.output


def test_a_document_that_is_typed_is_no_output():
    lines = "from pathlib import Path\nif not Path('a').exists():\n    raise SystemExit('no a')\nPY"
    script = f"cat > fix.py <<'PY'\n{lines}"
    first, *more = script.split("\n")
    echo = "\n".join([f"{AT}# {first}", *(f"> {line}" for line in more)])
    screen = f"{echo}\n{AT}# python fix.py\npatched\n{AT}# "
    assert read(screen, typed(script, "python fix.py")).said == "patched"
    assert output(screen) == "patched"  # nor where nobody knows what was typed


@pytest.mark.parametrize(
    "command",
    [
        "echo 'one\n> two'",
        "echo one \\\n> two",
        "ls |\n> wc -l",
        "for i in 1 2\n> do echo $i\n> done",
        "cat <<-E\n>\n> E",
    ],
)
def test_a_command_goes_on_behind_the_second_prompt(command):
    assert output(f"{AT}$ {command}\n> quoted\n{AT}$ ") == "> quoted"


@pytest.mark.parametrize(
    "command", ["cat mail.txt", "echo \"it's # <<E\" # 'so", "sort <<< '> a'", "node", "echo fi if-x"]
)
def test_of_a_command_that_is_whole_each_line_is_output(command):
    assert output(f"{AT}$ {command}\n> quoted\n>> twice\n{AT}$ ") == "> quoted\n>> twice"


def test_a_document_whose_first_lines_are_off_the_screen_is_no_output():
    did = typed("cat > a.txt <<'END'\nfirst words\nmore of them\n\nlast ones\nEND", "wc -l a.txt")
    screen = f"t words\n> more of them\n>\n> last ones\n> END\n{AT}$ wc -l a.txt\n4 a.txt\n{AT}$ "
    assert output(screen, did) == "t words\n4 a.txt"
    compared = f"> more of them\n> last ones\n{AT}$ wc -l a.txt\n4 a.txt\n{AT}$ "
    assert output(compared, did) == "> more of them\n> last ones\n4 a.txt"  # as diff shows lines


def test_a_command_that_a_screen_shows_in_two_lines_is_no_output():
    words = "wheel", "sdist"
    commands = [f"cd /srv/shop && python -m build --{word} && ls dist/{word}-1.0.tar.gz dist/*" for word in words]
    screen = "".join(f"{wrapped(f'{AT}# {each}')}\ndist/a-{n}.whl\n" for n, each in enumerate(commands)) + f"{AT}# "
    assert output(screen, typed(*commands)) == "dist/a-0.whl\ndist/a-1.whl"
    assert output(screen) == "dist/a-0.whl\ndist/a-1.whl"


def test_a_measurement_above_a_prompt_is_told():
    figures = {"setup_time": 3.576227747835219, "run_time": 88.65957187628374, "result": {"shape": [8, 612, 32000]}}
    printed = json.dumps({**figures, "more": dict.fromkeys("abcdefgh", 0.1234567890123)}, indent=2)
    screen = f"New Terminal Output:\n\nTo see more install extras.\n100%|████| 76/76\n{printed}\n{AT}# \n"
    line = result_line(screen, None, typed(""))
    assert "→ To see more install extras.; setup_time=3.576227747835219, run_time=88.65957187628374, " in line
    assert "ada@" not in line
    assert "run_time=88.65957187628374" in result_line(screen, None, typed(""), shortest=True)


def test_an_error_above_a_prompt_is_told_though_a_file_was_read_first():
    frame = '  File "/srv/shop/run.py", line 4, in <module>\n    raise AttributeError(\n'
    error = "AttributeError: 'Shop' object has no attribute '_till'"
    source = "".join(f"    self.part_{n} = {n}\n" for n in range(40))
    screen = (
        f"{AT}# sed -n '1,40p' shop.py\n{source}{AT}# python run.py\n"
        f"Traceback (most recent call last):\n{frame}{error}\n{AT}# "
    )
    told = read(screen, typed("sed -n '1,40p' shop.py", "python run.py"))
    assert told.failed
    assert told.said.startswith(f"{error} (/srv/shop/run.py:4)")


def test_what_is_typed_while_a_program_runs_has_no_output_yet():
    did = typed("find src -name '*.py' | sort", "grep -n shop src/a.py", "make")
    bar = f"100%|{'█' * 40}| 760/760 [00:11<00:00, 40.1kB/s]"
    screen = f"New Terminal Output:\n\n{bar}\nfind src -name '*.py' | sort\ngrep -n shop src/a.py\nmake\n\n\n"
    assert read(screen, did).said == "not run yet"
    assert output("loaded 3 of 9\n" + screen.partition(f"{bar}\n")[2], did) == "loaded 3 of 9"
    assert output("find src -name '*.py' | sort\nmake\n", did) is None  # that is not all


def test_what_a_terminal_repeats_before_the_shell_takes_it_is_no_output():
    did = typed("C-c", "ls dist", "python - <<'PY'\nprint(sum(range(100)))\nprint('of more', sum(range(1000)))\nPY")
    ahead = "ls dist\npython - <<'PY'\nprint(sum(range(100)))\nprint('of more', sum(range(10{\"a\": 1}"
    screen = f"{ahead}\n^C\n{AT}$ ls dist\na.whl\n{AT}$ python - <<'PY'\n> print(sum(range(100)))\n"
    screen += f"> print('of more', sum(range(1000)))\n> PY\n4950\nof more 499500\n{AT}$ "
    assert output(screen, did) == '{"a": 1}\n^C\na.whl\n4950\nof more 499500'


TITLE = "0;ada@box-7: /srv/shop"


@pytest.mark.parametrize(
    "prompt",
    [
        f"\x1b]{TITLE}\x07ada@box-7:/srv/shop$ ",
        f"\x1b]{TITLE}\x1b\\ada@box-7:/srv/shop$ ",
        f"]{TITLE}\x07ada@box-7:/srv/shop$ ",
        f"]{TITLE}ada@box-7:/srv/shop$ ",
        f"(base) ]{TITLE}ada@box-7:/srv/shop$ [K",
        f"\x1b[?2004h\x1b]{TITLE}\x07\x1b[01;32mada@box-7\x1b[00m:\x1b[01;34m/srv/shop\x1b[00m$ \x1b[K",
        "[ada@box-7 shop]$ ",
        "bash-5.2# ",
    ],
)
def test_a_prompt_is_no_output_whatever_sets_the_title_before_it(prompt):
    assert read(f"The output of the OS:\n\n5\n{prompt}", action("bash", command="ls | wc -l")).said == "5"


def test_a_title_behind_what_has_no_line_break_begins_a_line():
    assert uncoloured(f"5]{TITLE}ada@box-7:~$") == "5\nada@box-7:~$"


def test_marks_of_grep_that_have_lost_a_byte_are_taken_out():
    assert uncoloured("[01;31m[Kroot[m[K  1\nx[0] m[K") == "root  1\nx[0] m[K"


def test_a_list_of_processes_tells_others_than_itself():
    rows = ["root   1  0.0 pts/0 Ss+ 09:48 0:00 sh", "root  13  1.0 pts/1 Ss 09:48 0:00 sh --login"]
    head, itself = "USER PID %CPU TTY STAT START TIME COMMAND", "root  33  0.0 pts/1 R+ 09:48 0:00 ps aux"
    screen = "\n".join([head, *rows, itself, f"]{TITLE}ada@box-7:/srv/shop# "])
    told = read(screen, action("bash", command="ps aux")).said
    assert told.endswith("09:48 0:00 sh --login")


@pytest.mark.parametrize(
    ("printed", "command"),
    [
        ("# Use\n```\nada@box:~/a$ make\n> built\n```\nThat is all.", "cat README.md"),
        ("> text\n> more\nsaid Ann", "cat mail.txt"),
        ("3c3\n< old\n---\n> new", "diff a b"),
        (">>> 1 + 1\n2\n>>> ", "python"),
        ("From: ann@shop.org\n> on #5: 5% of $3\nada@shop.org: /see #", "cat mail.txt"),
        ("mix\nmake\nrun", "printf 'mix\\nmake\\nrun'\nmake"),
    ],
)
def test_what_is_no_screen_stays(printed, command):
    assert output(printed, action("bash", command=command)) is None


def test_a_file_that_shows_how_a_shell_is_used_stays():
    assert output("ada@box:~$ make\nbuilt\nada@box:~$ ", action("read_file", path="docs/use.txt")) is None


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "unit",
    [
        f"{AT}# ls\n",
        f"{AT}# ls {'x' * (95 - len(AT))}\n",
        f"{AT}# cat <<E\n> a\n",
        "> print(1)\n",
        "x" * 100 + "\n",
        "print(1)\n",
        "p\n",
        "]0;a@b:((",
        "\x1b]0;a@b: /",
        "(a) (b) a@b:/" * 3 + "\n",
    ],
)
def test_a_hostile_screen_is_read_in_linear_time(unit):
    did = typed("python - <<'PY'\n" + "print(1)\n" * 500 + "p" * 5_000 + "\nPY", "ls")
    read_screen(f"{AT}# ls\n{unit * (2_000_000 // len(unit))}\n{AT}# ", did)
