"""Labels under which harnesses give what came of a call: ``Tool Result:``, ``Результат инструмента find:``. Pure.

They name what ran and what it gave. Of a tool or a function nobody speaks so but who answers a call of it; of a
command or a script a person may as well, who pastes what came of it.
"""

from __future__ import annotations

NAMED_RESULT = r"\[[\w-]{2,40}(?: for (?:'[\s\S]{0,600}?'|[^\]\n]{0,300}))?\] Result:"
"""What Cline, Roo Code and Kilo Code write above the result of a call, to say of which."""

_WHOSE = r"(?:(?:the|your|last|previous|latest) ){0,2}"
_COMMAND = (
    r"(?:command|code|script|program|shell|terminal|console|action|api|query|sql|kernel|cell|environment|model"
    r"|(?:\w{1,20} )?instance|database|server|browser|executor|repl|notebook|device)"
)
_RAN = r"(?:[ _-](?:call|execution|use|run|invocation))?"
_GAVE = r"[ _-](?:results?|outputs?|responses?|return(?:ed)? values?)"
_TOOLS = (
    rf"{_WHOSE}(?:tool|function|plugin|skill|sandbox|interpreter|code execution){_RAN}{_GAVE}\b",
    r"(?:Ergebnis|Ausgabe|Antwort|Rückgabe)(?:se|n)? (?:des|der|vom|von) (?:Werkzeugs?|Tools?|Funktion|Aufrufs)\b",
    r"(?:Tool|Werkzeug|Funktions)-?(?:[Ee]rgebnis|[Aa]usgabe|[Aa]ntwort|[Rr]ückgabe)(?:se|n)?\b",
    r"(?:Résultat|Sortie|Réponse|Retour)s? (?:de l['’]|du |de la |des )(?:outils?|tool|fonction|appel)\b",
    r"(?:Resultado|Salida|Respuesta)s? (?:de (?:la )?|del )(?:herramienta|función|llamada|tool)\b",
    r"(?:Resultado|Saída|Resposta)s? (?:d[ao] |de )(?:ferramenta|função|chamada|tool)\b",
    r"(?:Risultat[oi]|Uscita|Output|Rispost[ae]) (?:dell?[ao]? |dell['’]|di )(?:strumento|funzione|chiamata|tool)\b",
    r"(?:Результаты?|Вывод|Ответ) (?:работы |выполнения |вызова )?(?:инструмента|функции|тула)\b",
    r"(?:Результати?|Вивід|Відповідь) (?:роботи |виконання |виклику )?(?:інструмент[ау]|функції)\b",
    r"(?:Wyniki?|Odpowiedź|Wyjście) (?:wywołania )?(?:narzędzia|funkcji)\b",
    r"(?:Resultaat|Uitvoer|Antwoord) van (?:de |het )?(?:tool|hulpmiddel|functie)\b|Tool-?(?:resultaat|uitvoer)\b",
    r"(?:Araç|Fonksiyon)(?: çağrısı| çalıştırma)? (?:sonu(?:cu|çları)|çıktısı|yanıtı)\b",
    r"Kết quả (?:của |từ |gọi )?(?:công cụ|hàm|tool)\b",
    r"(?:Hasil|Keluaran) (?:dari )?(?:alat|tool|fungsi)\b",
    r"(?:ツール|関数|プラグイン)(?:の)?(?:呼び出し|実行)?(?:の)?(?:結果|出力|応答|レスポンス)",
    r"(?:工具|函数|函數|插件)(?:调用|呼叫|执行|執行|运行|返回|使用)?(?:的)?(?:结果|結果|输出|輸出|返回|响应|回應|反馈)",
    r"(?:도구|함수|툴)(?: ?(?:호출|실행|사용))? ?(?:결과|출력|응답)",
    r"(?:نتيجة|نتائج|مخرجات) (?:الأداة|الدالة)|(?:نتیجه|خروجی) (?:ابزار|تابع)|(?:टूल|उपकरण) (?:का )?(?:परिणाम|आउटपुट)",
)
_COMMANDS = (
    rf"{_WHOSE}{_COMMAND}{_RAN}{_GAVE}\b",
    r"(?:Ergebnis|Ausgabe)(?:se)? (?:des|der) (?:Befehls|Skripts|Programms|Ausführung|Aktion|Abfrage)\b",
    r"(?:Résultat|Sortie)s? (?:de la |de l['’]|du )(?:commande|script|programme|exécution|action|requête)\b",
    r"(?:Resultado|Salida)s? (?:de la |del |de )(?:comando|script|programa|ejecución|acción|consulta)\b",
    r"(?:Resultado|Saída)s? (?:d[ao] )(?:comando|script|programa|execução|ação|consulta)\b",
    r"(?:Risultat[oi]|Output) (?:dell?[ao]? |dell['’])(?:comando|script|programma|esecuzione|azione|query)\b",
    r"(?:Результаты?|Вывод) (?:выполнения )?(?:команды|скрипта|программы|кода|действия|запроса|выполнения)\b",
    r"(?:Wyniki?|Wyjście) (?:polecenia|komendy|skryptu|programu|wykonania|akcji|zapytania)\b",
    r"(?:Komut|İşlem|Eylem|Kod)(?: çalıştırma)? (?:sonu(?:cu|çları)|çıktısı)\b",
    r"Kết quả (?:của )?(?:lệnh|thực thi|hành động|chạy)\b",
    r"(?:Hasil|Keluaran) (?:dari )?(?:perintah|eksekusi|aksi|skrip)\b",
    r"(?:コマンド|コード|スクリプト|アクション)(?:の)?(?:実行)?(?:の)?(?:結果|出力)",
    r"(?:命令|代码|程序|脚本|指令|动作|操作|程式碼|指令碼)(?:执行|執行|运行)?(?:的)?(?:结果|結果|输出|輸出|返回)",
    r"(?:명령어?|코드|스크립트|액션)(?: ?실행)? ?(?:결과|출력)",
    r"(?:نتيجة|مخرجات) (?:الأمر|التنفيذ|تنفيذ)|(?:نتیجه|خروجی) (?:دستور|اجرا)|कमांड (?:का )?(?:परिणाम|आउटपुट)",
)
_OPENS, _CLOSES = r"[*#\[【<(\"]{0,4} ?", r"[^\n:：\]】]{0,60}[:：\]】]\**"

OF_TOOL = rf"{_OPENS}(?i:{'|'.join(_TOOLS)}){_CLOSES}"
"""Before what a tool gave; behind it maybe which."""
OF_COMMAND = rf"{_OPENS}(?i:{'|'.join(_COMMANDS)}){_CLOSES}"
"""Before what a command gave, or code."""
