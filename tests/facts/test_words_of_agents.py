"""What only the agent says, writes or means to do: which of it later turns need, and under whose name it is told."""

from __future__ import annotations

import json

from needing import call, needed, result, say

from trajcompress.facts import words_around
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_code_that_an_agent_writes_again_is_no_fact_but_what_it_defines_and_where():
    wrote = call(
        "write", text="def load_rows(path):\n    batch_size = read(path, 'out/rows.csv')\n    return batch_size"
    )
    again = call("write", text="x = 1\nbatch_size = load_rows('out/rows.csv')\n")
    assert set(needed([wrote], [again])) == {"load_rows", "out/rows.csv"}
    assert "batch_size" in needed([wrote, result("batch_size is 4")], [again])
    assert "batch_size" in needed([wrote], [again, say("assistant", "So batch_size is wrong.")])


def test_code_that_stands_in_the_text_of_a_turn_is_that_of_a_call():
    def acts(code: str) -> Turn:
        asked = ToolCall("", "python", json.dumps({"code": code}), in_text=True)
        return Turn("assistant", f"I try it.\n```python\n{code}\n```", {}, calls=(asked,))

    wrote = acts("print('All 12 checks pass')\nbatch_size = 4512\nprint(batch_size)")
    again = acts("print('All 12 checks pass')\nbatch_size = 4512\nload(batch_size)")
    assert needed([wrote], [again]) == ()
    assert needed([wrote, result("All 12 checks pass\n4512")], [again]) != ()


def test_what_the_agent_only_means_to_do_is_no_fact():
    said = "I'll look first. The pages will be in /var/www/site/current/pages, I think."
    planned = say("assistant", said, calls=(ToolCall("c", "ls", '{"path": "/"}'),))
    uses = [call("write", path="deploy.sh", text="cp -r dist /var/www/site/current/pages\nls /var/www/site")]
    assert needed([planned, result("bin etc")], uses) == ()
    assert needed([planned, result("It is in /var/www/site/current/pages.")], uses) != ()
    told = say("assistant", "The pages will be in /var/www/site/current/pages from then on.")
    assert needed([told], uses) != ()
    assert needed([say("assistant", "Let me put the pages into /var/www/site/current/pages.")], uses) == ()


def test_of_a_value_of_json_that_goes_on_its_sentence_is_told_with_its_key():
    said = "We got 77.02 s. " + "So we wait. " * 40
    turn = Turn("assistant", json.dumps({"analysis": said, "plan": "wait"}), {})
    assert words_around(["77.02"], [turn])["77.02"] == "in a reply: analysis = We got 77.02 s."


def test_what_only_a_call_gives_is_not_told_as_if_it_came_of_one():
    script = 'f.write(text)\nprint("Created: out/report.txt")\nf.close()\n'
    wrote = Turn("assistant", "I write it.", {}, calls=(ToolCall("c", "write", json.dumps({"content": script})),))
    words = words_around(["out/report.txt"], [wrote, result("ok")])["out/report.txt"]
    assert words == 'in a call: print("Created: out/report.txt")'
    given = {"note": "a\nb", "keep": True, "limit": 4512}
    asked = Turn("assistant", "", {}, calls=(ToolCall("c", "list", json.dumps(given)),))
    assert words_around(["4512"], [asked])["4512"] == "in a call: limit = 4512"
    printed = words_around(["out/report.txt"], [wrote, result("Created: out/report.txt")])["out/report.txt"]
    assert printed == "Created: out/report.txt"


def test_what_only_the_agent_says_is_told_as_its_words():
    said = Turn("assistant", "I will look for flights on May 19, 2024.", {})
    assert words_around(["May 19, 2024"], [said])["May 19, 2024"] == f"in a reply: {said.text}"
    found = result("HAT271 leaves on May 19, 2024")
    assert words_around(["May 19, 2024"], [said, found])["May 19, 2024"] == found.text
    command = "curl -s http://localhost:8000/flags"
    asked = ToolCall("", "bash", json.dumps({"command": command}), in_text=True)
    acted = Turn("assistant", f"I ask for it.\n```\n{command}\n```", {}, calls=(asked,))
    assert words_around(["http://localhost:8000/flags"], [acted]) == {
        "http://localhost:8000/flags": f"in a call: {command}"
    }


def test_a_line_that_a_patch_adds_is_told_without_the_sign_of_it():
    patch = "*** Begin Patch\n*** Add File: README.md\n+Run `npm run build` first.\n*** End Patch"
    words = words_around(["npm run build"], [call("apply_patch", input=patch)])
    assert words == {"npm run build": "in a call: Run `npm run build` first."}


def test_what_an_agent_writes_once_more_into_a_file_is_its_own():
    page = "<html>\n<style>body { margin: 40px; color: #2c5aa0 }</style>\n<p>Growth of 45%</p>\n"
    first = call("write_file", path="/srv/report.html", text=page)
    again = call("write_file", path="/srv/report.html", text=page.replace("<p>", "<p class='new'>"))
    assert needed([first], [again]) == ()
    assert needed([first, result("Growth last year: 45%")], [again]) == ("45%",)
    assert "45%" in needed([first], [again, say("assistant", "It says 45%.")])


def test_what_a_call_in_the_text_gives_is_told_by_its_name_and_no_flag_is_a_fact():
    given = {"reservation_id": "FQ8APE", "cabin": "economy"}
    asked = ToolCall("", "update_cabin", json.dumps(given), in_text=True)
    line = "update_cabin --reservation_id FQ8APE --cabin economy"
    acted = Turn("assistant", f"I change it.\n```bash\n{line}\n```", {}, calls=(asked,), in_text=True)
    assert words_around(["FQ8APE"], [acted]) == {"FQ8APE": "in a call: reservation_id = FQ8APE"}
    again = Turn("assistant", f"```bash\n{line} --insurance yes\n```", {}, in_text=True)
    assert needed([acted, result("FQ8APE is in economy now")], [again]) == ("FQ8APE",)


def test_what_code_calls_on_its_own_variables_is_no_fact_but_files_and_members_are():
    code = (
        "wb = openpyxl.load_workbook('gdp.xlsx')\nsheet = wb['Task']\nfor row in rows:\n    sheet.cell(row=row.first)"
    )
    told = [call("run", code=code), result("Cells: sheet.cell, row.first; see wb.json and data_task.cell")]
    later = call("run", code=f"{code}\nopen('wb.json')\ndata_task.cell(1)")
    assert set(needed(told, [later])) == {"wb.json", "data_task.cell"}


def test_how_an_element_of_a_page_looks_is_no_fact():
    page = '<div class="flex gap-4 px-3 bg-blue-50 hover:text-gray-600"><b id="order-17">text-davinci-003</b></div>'
    later = call("write", path="a.tsx", text=f"{page}\n<p class='w-1/2 mt-2 text-gray-600'/>")
    assert set(needed([result(page)], [later, say("assistant", "So gap-4 and order-17 stay.")])) <= {
        "order-17",
        "text-davinci-003",
    }


def test_a_fact_of_one_of_several_commands_is_told_with_that_alone():
    line = "cd /srv/app && ruff format src/api.py && export PATH=$HOME/bin:$PATH && just check 2>&1 | tail -3"
    for more in ({}, {"timeout": "60"}):
        words = words_around(["just check", "src/api.py"], [call("bash", command=line, **more)])
        assert words == {
            "just check": "in a call: just check 2>&1 | tail -3",
            "src/api.py": "in a call: ruff format src/api.py",
        }
