"""Of a log or a table the line that is unlike the others is told."""

from __future__ import annotations

import pytest
from told import action, read

from trajcompress.outcomes.printed.odd_lines import odd_lines

LOGS = {
    "plain": ("2024-05-01 10:{n:02}:00 INFO worker step {n} done", "2024-05-01 10:30:00 ERROR worker card refused"),
    "brackets": ("[10:{n:02}:00] [INFO] step {n} done", "[10:30:00] [ERROR] card refused"),
    "logfmt": ('time="2024-05-01T10:{n:02}" level=info msg="step {n}"', 'time="x" level=error msg="card refused"'),
    "json": (
        '{{"ts":"10:{n:02}","level":"info","msg":"step {n}"}}',
        '{"ts":"x","level":"error","msg":"card refused"}',
    ),
    "nginx": ("2024/05/01 10:{n:02}:00 [notice] 12#0: worker {n}", "2024/05/01 10:30:00 [error] 3#3: card refused"),
    "spring": (
        "2024-05-01T10:{n:02}:00.1+02:00  INFO 1 --- [main] c.A : {n}",
        "2024-05-01T11  WARN 1 --- card refused",
    ),
    "glog": (
        "I0501 10:{n:02}:00.0001       1 a.go:12] synced {n}",
        "E0501 10:30:00.0001       1 a.go:9] card refused",
    ),
    "python": ("INFO:root:step {n}", "WARNING:root:card refused"),
    "syslog": (
        "May  1 10:{n:02}:00 host app[12]: info: step {n}",
        "May  1 10:30:00 host app[12]: error: card refused",
    ),
}


@pytest.mark.parametrize("form", LOGS)
def test_the_one_error_of_a_log_is_told(form):
    usual, odd = LOGS[form]
    notes = [usual.format(n=n) for n in range(44)]
    outcome = read("\n".join([*notes[:25], odd, *notes[25:]]), action("bash", command="cat app.log"))
    assert "card refused" in outcome.said
    assert not outcome.failed
    many = [odd.replace("card", f"card {n}") if n % 2 else note for n, note in enumerate(notes)]
    assert odd_lines("\n".join(many)) == []
    assert odd_lines("\n".join(notes)) == []


def test_the_one_row_of_a_table_that_is_in_another_state_is_told():
    row = "{name:<24} {ready:<7} {status:<18} {restarts}"
    head = row.format(name="NAME", ready="READY", status="STATUS", restarts="RESTARTS")
    pods = [row.format(name=f"web-{n}", ready="1/1", status="Running", restarts=0) for n in range(20)]
    pods[9] = row.format(name="pay-1", ready="0/1", status="CrashLoopBackOff", restarts=12)
    outcome = read("\n".join([head, *pods]), action("bash", command="kubectl get pods"))
    assert "pay-1 0/1 CrashLoopBackOff 12" in outcome.said
    markdown = ["| name | status |", "|---|---|", *(f"| a{n} | {'down' if n == 7 else 'up'} |" for n in range(14))]
    assert odd_lines("\n".join(markdown)) == ["| a7 | down |"]
    assert odd_lines("\n".join([head, *pods[:4]])) == []  # too few to be usual


def test_the_one_column_that_has_gaps_is_told():
    missing = [f"{name:<12}{0:>5}" for name in ("id", "name", "price", "sex", "fare", "port", "class", "deck")]
    missing[4] = f"{'age':<12}{177:>5}"
    assert odd_lines("\n".join([*missing, "dtype: int64"])) == [missing[4]]
    sizes = [f"{name:<12}{size:>5}" for name, size in zip("abcdefgh", (1, 1, 1, 1, 5, 1, 1, 1), strict=True)]
    assert odd_lines("\n".join(sizes)) == []  # a figure is unlike nothing but none


def test_of_an_access_log_what_was_not_served_is_told():
    line = (
        '10.0.0.{n} - - [12/Dec/2024:09:12:{n:02} +0100] "GET /api/stops/{n} HTTP/2.0" {status} 8821 "-" "x" rt=0.0'
    )
    lines = [line.format(n=n, status=502 if n == 8 else 404 if n == 3 else 200) for n in range(20)]
    assert odd_lines("\n".join(lines)) == [lines[8]]
    assert odd_lines("\n".join(each for each in lines if " 502 " not in each)) == [lines[3]]


def test_a_log_that_is_shown_with_numbers_and_times_is_told_without_these():
    notes = [f"{n:6}\t2024-11-28 03:59:{n:02}.002 INFO [ingest] batch={n} lag=1.2s" for n in range(15)]
    notes[6] = "     6\t2024-11-28 03:59:06.190 ERROR [ingest] batch=6 dropped: clock in future"
    shown = read("\n".join(notes), action("read_file", path="app.log"))
    assert "ERROR [ingest] batch=6 dropped: clock in future" in shown.said
    timed = "\n".join(note.partition("\t")[2] for note in notes)
    assert read(timed, action("bash", command="cat app.log")).said.startswith("INFO [ingest] batch=0 lag=1.2s")


def test_a_name_with_such_a_word_in_it_is_no_fault():
    applied = "".join(f"configmap/gateway-error-pages-{n} unchanged\n" for n in range(9))
    rolled = applied + 'deployment "gateway" successfully rolled out\n'
    assert odd_lines(rolled, ran=True) == []
    assert odd_lines(rolled + "cannot reach the node\n", ran=True) == ["cannot reach the node"]


def test_a_disk_and_a_process_that_take_almost_all_are_told():
    disk = "{name:<16}{size:>5} {used:>4}% {mount}"
    rows = [
        disk.format(name=f"/dev/sd{c}1", size="40G", used=97 if c == "d" else 12, mount=f"/{c}") for c in "abcdefg"
    ]
    head = f"{'Filesystem':<16}{'Size':>5} Use% Mounted"
    assert odd_lines("\n".join([head, *rows])) == [rows[3]]


def test_words_of_a_text_are_no_levels():
    assert odd_lines("The error was large.\n" + "Info follows here, and a warning.\n" * 20) == []


@pytest.mark.parametrize(
    "unit", ["1" * 80 + " ", "[1] ", "a1 ", "Jan 1 ", "a: ", "[INFO] ERR ", "| status |\n", "x  0\n"]
)
def test_a_hostile_text_is_read_in_linear_time(unit):
    assert len(odd_lines(unit * 4_000)) <= 3
    assert len(odd_lines("status %a " * 40 + "\n" + "9 9\n" * 4_000, ran=True)) <= 3


def test_what_is_not_so_among_many_settings_is_told():
    settings = [f"Setting {name}: on" for name in "abcdefgh"]
    settings[4] = "Can send MMS: No"
    assert odd_lines("\n".join(settings)) == ["Can send MMS: No"]
    assert odd_lines("\n".join(f"Setting {name}: No" for name in "abcdefgh")) == []


def test_a_column_with_gaps_is_told_of_an_overview():
    columns = [f" {n}   column_{n}  {'201' if n == 4 else '891'} non-null  float64" for n in range(12)]
    assert odd_lines("\n".join(["RangeIndex: 891 entries, 0 to 890", *columns])) == [columns[4]]


@pytest.mark.parametrize(
    "line",
    [
        "Die IBAN ist ungültig.",
        "提交失败，请重试",
        "El código es inválido",
        "オーダーエラー",
        "p=2.02e-06 for treatment",
    ],
)
def test_a_fault_in_other_languages_and_a_figure_of_a_test_are_told(line):
    texts = [f"Line {n} of the page with some words" for n in range(12)]
    assert odd_lines("\n".join([*texts[:5], line, *texts[5:]]), ran=True) == [line]
