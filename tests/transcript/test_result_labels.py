"""A label that says that a tool answers makes a turn an observation, in whatever language and case."""

from __future__ import annotations

import json

import pytest
from trajectories import openai

from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.text_protocols.printed import printed

OF_TOOLS = [
    *(
        "Tool Result:",
        "TOOL RESULT (read_file):",
        "Tool Execution Result:",
        "tool call output:",
        "Function Response:",
    ),
    *("Code execution result:", "Sandbox output:", "**Tool result:**", "[Tool Results]"),
    *("Ergebnis des Werkzeugs:", "Tool-Ergebnis (suche):", "Résultat de l'outil :", "Sortie de la fonction :"),
    *("Resultado de la herramienta buscar:", "Resultado da ferramenta:", "Risultato dello strumento:"),
    *("Результат инструмента search_files:", "РЕЗУЛЬТАТ ВЫЗОВА ФУНКЦИИ:", "Результат інструменту:"),
    *("Wynik narzędzia:", "Resultaat van de tool:", "Araç sonucu:", "KẾT QUẢ CÔNG CỤ (x):", "Hasil alat:"),
    *(
        "ツールの実行結果:",
        "ツール実行結果：",
        "【工具调用结果】",
        "工具执行结果：",
        "도구 실행 결과:",
        "نتيجة الأداة:",
        "टूल का परिणाम:",
    ),
]
OF_COMMANDS = [
    *("LAST SCRIPT OUTPUT:", "Command output:", "Query Result:", "Salesforce instance output:", "Database response:"),
    *("Ausgabe des Befehls:", "Résultat de la commande :", "Salida del comando:", "Saída do comando:"),
    *("Результат выполнения команды:", "Wynik polecenia:", "コマンド実行結果:", "命令输出：", "명령 실행 결과:"),
]
SAID = [
    "Tool results are odd.",
    "The tool worked",
    "Ergebnis ist gut",
    "工具很好用",
    "My tool result list is long",
]


@pytest.mark.parametrize("label", OF_TOOLS)
def test_what_a_tool_gave_stands_under_such_a_label(label):
    assert printed(f"{label} 3 rows").certain
    text = f"{label}\n{json.dumps({'rows': 3})}"
    start, end, said = in_observation(text)
    assert (text[start:end], said) == ('{"rows": 3}', "")


@pytest.mark.parametrize("label", OF_COMMANDS)
def test_what_a_command_gave_may_be_pasted(label):
    read = printed(f"{label}\n3 rows")
    assert read.named


@pytest.mark.parametrize("text", SAID)
def test_what_people_say_of_tools_is_no_such_label(text):
    assert not printed(text).certain
    assert in_observation(text).start == 0


@pytest.mark.parametrize("label", ["Tool Result:", "ツールの実行結果:", "Результат инструмента read:"])
def test_json_is_answered_under_it(label):
    acts = [("assistant", json.dumps({"tool_call": {"name": "read", "arguments": {"n": n}}})) for n in range(3)]
    told = [("user", f"{label} {json.dumps({'ok': True, 'n': n})}") for n in range(3)]
    turns = [turn for pair in zip(acts, told, strict=True) for turn in pair]
    row = openai(("user", "Read them all."), *turns, ("assistant", "That is all."), ("user", "Thank you!"))
    assert [index for index, turn in enumerate(row.turns) if turn.answers] == [2, 4, 6]
