"""What is told of a result where later turns take something of it up."""

from __future__ import annotations

import json

from told import later, said

from trajcompress.facts.next_turns import LaterReader
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.outcome import read
from trajcompress.outcomes.printed.furniture import Repeated
from trajcompress.outcomes.records.structured import read_structured
from trajcompress.outcomes.steps import action_of
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_a_file_view_tells_the_lines_that_the_next_action_edits():
    shown = "\n".join(f"{number}: def helper_{number}(value):" for number in range(270, 300))
    shown += "\n300:     The keyword names of it.\n301:     keywords = [name for name in KeywordNames]"
    told = read(shown, None, later=later(old="keywords = [name for name in KeywordNames]", new="keywords = []")).said
    assert told == (
        "270: def helper_270(value): 271: def helper_271(value): … 301: keywords = [name for name in KeywordNames]"
    )


def test_of_matches_those_are_told_that_the_next_action_opens():
    found = "\n".join(f"src/m{number}.py:{number}: import things_{number}" for number in range(10, 40))
    told = read(found, Action("", "grep things", "read"), later=later(path="src/m33.py")).said
    assert told == "30 matches: src/m33.py:33: import things_33"


def test_of_a_long_line_the_sentence_is_told_that_the_next_action_takes_up():
    prose = (
        "The house is a historic home. " * 8
        + "It stands above the bay of Hilo, Hawaii, on a hill. "
        + "It is old. " * 9
    )
    assert "Hilo, Hawaii" in read(prose, None, later=later(query="Hilo, Hawaii")).said


def test_a_sentence_is_not_begun_within_its_brackets():
    printed = "Ann Lee (; born October 26, 1973) is a writer and a singer. " + "She wrote songs; she sang them. " * 9
    assert read(printed, None, later={"writer": 2.0}).said.startswith("Ann Lee (; born October 26, 1973) is a writer")


def test_a_sentence_that_is_taken_up_is_told_whole_before_paragraphs_are_begun():
    first = "Ann Lee is a writer, a singer, a painter and, since the second of her many long journeys, a baker. "
    page = f"{first}She was born at sea. \n" + "\n".join(
        f"In {year} she {'went on and ' * 20}rested." for year in (1, 2)
    )
    assert read(page, None, later={"baker": 2.0}).said == f"{first}She was born at sea."


def test_an_error_does_not_hide_what_the_next_action_takes_up():
    printed = "to_snake gave server_error for serverError\n" + "checked\n" * 30 + "Error: wrong type for Foo\n"
    told = read(printed, None, later=later(text="server_error")).said
    assert told == "Error: wrong type for Foo; to_snake gave server_error for serverError"


def test_values_that_are_needed_stand_with_their_record():
    days = range(20, 29)
    flights = [{"flight": f"HAT1{day}", "origin": "MSP", "date": f"2024-05-{day}", "seats": [9] * 30} for day in days]
    told, _, _ = read_structured({"flights": flights}, dict.fromkeys(("2024-05-21", "2024-05-25"), 4.0), 150, 200)
    assert told.startswith("[(flight=HAT120); (HAT121, date=2024-05-21); HAT122; ")
    cards = {"gift_1": {"source": "gift", "amount": 280}, "card_2": {"source": "card", "last_four": "3848"}}
    told, _, _ = read_structured(
        {"payment_methods": cards, "note": "x" * 300}, dict.fromkeys(("280", "3848"), 4.0), 150, 200
    )
    assert told.startswith("payment_methods=(gift_1=(amount=280); card_2=(last_four=3848)), …")


def test_records_of_which_words_are_used_tell_what_they_come_to_as_well():
    cards = {
        "voucher_1": {"source": "voucher", "amount": 500},
        "card_2": {"source": "card", "brand": "visa", "last_four": "7238"},
        "gift_3": {"source": "gift", "amount": 6},
    }
    told, _, _ = read_structured({"methods": cards, "note": "of no use " * 90}, {"7238": 4.0}, 150, 900)
    assert told.startswith("methods=(voucher_1=(amount=500); card_2=(last_four=7238); gift_3=(amount=6)), ")


def test_what_records_come_to_is_told_with_their_names_though_no_later_turn_names_one():
    accounts = {
        f"{kind}_account_{number}": {"source": f"{kind}_account", "balance": number // 7}
        for number, kind in enumerate(("savings", "current", "foreign", "pension", "joint", "deposit"), 7091239)
    }
    user = {
        "address": {"street": "825 Laurel Lane, Suite 595", "zip": "77243", "city": "Houston"},
        "born": "1950-06-24",
        "accounts": accounts,
        "loans": ["OI5L9G", "AQLBTL", "KA7I60"],
    }
    told = read(json.dumps(user), None, later={"OI5L9G": 4.0}, taken={"OI5L9G": 4.0}, most=2_000).said
    assert all(f"{name}=(balance={held['balance']})" in told for name, held in accounts.items())


def test_of_the_only_record_of_a_list_the_figure_is_told_beside_what_is_used():
    paid = {"about": "a trip of three legs " * 12, "paid": [{"by": "gift_7480005", "amount": 13716}]}
    told = read(json.dumps(paid), None, later={"gift_7480005": 4.0}, taken={"gift_7480005": 4.0}, most=2_000).said
    assert "paid=[(by=gift_7480005, amount=13716)]" in told


def test_of_journeys_the_legs_tell_the_same_and_each_leg_once():
    def leg(number: int, at: str) -> dict[str, object]:
        return {"flight": f"HAT{number}", "leaves": at, "from": "DEN", "seats": "9" * 90}

    journeys = [[leg(84, "04:00"), leg(175, "17:00")], [leg(229, "11:00"), leg(175, "17:00")]]
    wanted = dict.fromkeys(("HAT84", "HAT229", "17:00"), 4.0)
    told, _, _ = read_structured(journeys, wanted, 150, 900)
    assert told == "[[(flight=HAT84, leaves=04:00); (HAT175, 17:00)]; [(flight=HAT229, leaves=11:00); HAT175]]"


def test_what_is_used_of_the_prices_of_one_leg_is_told_of_each():
    def leg(number: int, economy: int) -> dict[str, object]:
        return {"flight": f"HAT{number}", "prices": {"basic": economy - 40, "economy": economy}, "seats": "9" * 90}

    journeys = [[leg(84, 112), leg(175, 170)], [leg(229, 109), leg(175, 170)], [leg(84, 112), leg(229, 109)]]
    told, _, _ = read_structured(journeys, dict.fromkeys(("HAT84", "HAT229", "170"), 4.0), 150, 900)
    assert told == (
        "[[(flight=HAT84, prices=(economy=112)); (HAT175, (economy=170))]; "
        "[(flight=HAT229, prices=(economy=109)); HAT175]; [(flight=HAT84); HAT229]]"
    )


def test_of_few_records_all_are_told_and_of_a_short_list_all_items():
    legs = [{"flight": f"HAT{number}", "date": f"2024-05-2{number % 10}", "seats": [9] * 90} for number in (208, 303)]
    told, _, _ = read_structured(
        {"flights": legs, "ids": ["NM1VX1", "S61CZX"], "note": "x" * 300}, {"HAT208": 4.0, "S61CZX": 4.0}, 150, 900
    )
    assert "flights=[(flight=HAT208); HAT303]" in told
    assert "ids=[NM1VX1; S61CZX]" in told


def test_what_a_booking_is_of_is_told_rather_than_zeros_and_when_it_was_stored():
    legs = [{"flight": f"HAT{number}", "date": f"2024-05-2{number % 10}", "seats": [9] * 90} for number in (208, 303)]
    booking = {
        "from": "LAS",
        "to": "ATL",
        "legs": legs,
        "created_at": "2024-05-01T05:17:00",
        "bags": 0,
        "extra": "no",
    }
    told, _, _ = read_structured({**booking, "note": "x" * 300}, {}, 90, 90)
    assert told == "from=LAS, to=ATL, legs=[(flight=HAT208, date=2024-05-28); (HAT303, 2024-05-23)], bags=0, …"


def test_records_tell_what_most_of_them_have_and_each_value_under_its_key():
    ids = [{"url": "https://cards.example.org/of/1"}] * 3
    cards = {"gift_1": {"amount": 280, "ids": ids}, "card_2": {"brand": "visa", "ids": ids}, "gift_3": {"amount": 77}}
    told, _, _ = read_structured({"methods": cards, "note": "x " * 300}, {}, 90, 90)
    assert told.startswith("methods=(gift_1=(amount=280); card_2; gift_3=(amount=77))")


def test_records_that_are_told_in_part_say_how_many_more_there_are():
    found = [{"name": f"repo-{number}", "about": f"Number {number} of them. " * 4} for number in range(40)]
    told, _, _ = read_structured(found, {"repo-7": 4.0, "repo-30": 4.0}, 150, 900)
    assert told == "[(name=repo-7); repo-30; … 38 more]"


def test_a_record_that_is_named_and_has_a_value_that_is_used_is_told_once():
    cards = {
        f"gift_{number}": {"source": "gift", "amount": 13 * number, "id": f"gift_{number}"} for number in (1, 2, 3)
    }
    data = {"payment_methods": cards, "note": "of no use " * 90}
    told, _, _ = read_structured(data, {"gift_1": 4.0, "26": 4.0}, 150, 900)
    assert told.startswith("payment_methods=(gift_1=(amount=13); gift_2=(amount=26); gift_3=(amount=39)), note=")


def test_of_an_object_whole_fields_are_told_in_their_order_and_not_what_the_call_says():
    booking = {
        "booking_id": "NM1VX1",
        "user_id": "ann_lee_7557",
        "page": "https://example.org/bookings/of/this/person/NM1VX1",
        "origin": "MSP",
        "legs": [{"flight": f"HAT{number}", "seats": "9" * 70} for number in (300, 208)],
        "paid_by": [{"id": "gift_1", "amount": 183}],
        "insurance": "yes",
    }
    told, _, _ = read_structured(booking, {"HAT208": 4.0}, 150, 900, "NM1VX1")
    assert told == ("origin=MSP, legs=[(flight=HAT300); HAT208], paid_by=[(id=gift_1, amount=183)], insurance=yes, …")


def test_of_records_that_nobody_uses_all_are_named_before_one_is_told_whole():
    flights = [
        {
            "number": f"HAT{n}",
            "origin": "MSP",
            "day": "today",
            "leaves": f"{n % 24:02}:00",
            "status": "open",
            "x": [n] * 40,
        }
        for n in range(130, 135)
    ]
    told, _, _ = read_structured(flights, {}, 150, 150, "origin=MSP")
    assert told == (
        "[(number=HAT130, leaves=10:00); (HAT131, 11:00); (HAT132, 12:00); (HAT133, 13:00); (HAT134, 14:00)]"
    )


def test_what_later_turns_take_is_told_in_whole_sentences_among_what_the_result_shows():
    page = "The archive of the fort.\n" + "".join(f"Nothing is known of it in 17{year}.\n" for year in range(10, 30))
    page += "There is [no evidence](https://example.org/a) that Lee was at Buena Vista in 1847. It closed.\n"
    page += "".join(f"It is so in 18{year}.\n" for year in range(50, 70))
    told = read(page, None, taken={"Buena": 1.5, "1847": 2.0}, most=900).said
    assert " … There is no evidence that Lee was at Buena Vista in 1847. … It is so in 1869." in told
    address = {"https://example.org/a": 4.0, "1847": 2.0}
    assert "[no evidence](https://example.org/a)" in read(page, None, taken=address, most=900).said


def ran(command: str) -> Turn:
    return Turn("assistant", "", {}, calls=(ToolCall("c", "bash", json.dumps({"command": command})),))


def test_of_a_list_of_files_that_one_is_told_that_is_opened_by_another_root():
    found = "\n".join(f"./pkg/part_{number}/checker.py" for number in range(40))
    told = said_before(found, json.dumps({"path": "/repo/pkg/part_23/checker.py"}), ran("find . -name checker.py"))
    assert "./pkg/part_23/checker.py" in told


def said_before(printed: str, arguments: str, did: Turn, words: str = "") -> str:
    """What is told of a result before another call."""
    acts = Turn("assistant", words, {}, calls=(ToolCall("c", "view", arguments),))
    ahead = LaterReader([did, Turn("tool", "", {}, answers=("c",)), acts]).after(1)
    return read(printed, action_of(did, 0), later=ahead).said


def test_what_the_next_turn_says_is_taken_up_as_what_it_passes_to_a_tool_is():
    found = "\n".join(f"{number}: if key.freq_{number} is None:" for number in range(6000, 6090, 3))
    told = said_before(found, '{"view_range": [6070, 6090]}', ran("grep -n freq base.py"), "Let us see line 6078:")
    assert told.startswith("30 matches: 6078: if key.freq_6078 is None:")


def test_a_name_that_stands_in_several_lines_is_told_in_one_of_them():
    shown = "".join(f"{number}\tvalue_{number} = {number}\n" for number in range(10, 60))
    shown = shown.replace("value_30", "rc_params").replace("value_40", "rc_params")
    told = said_before(shown, '{"query": "rc_params"}', ran("cat -n settings.py"))
    assert "30 rc_params = 30" in told


def test_lines_of_a_listing_stand_in_their_order_with_their_numbers_and_none_is_a_number_alone():
    shown = "".join(f"{number:6}\tx_{number} = f({number})\n" for number in range(1, 80))
    shown = shown.replace("    20\tx_20 = f(20)", "    20\t")
    shown = shown.replace("x_30 = f(30)", "def last():").replace("x_5 = f(5)", "class Reader:")
    words = {"x_40": 4.0, "20": 4.0, "x_7": 4.0}
    told = read(shown, None, later={"x_7": 2.0}, taken=words, most=900).said
    assert told == "5 class Reader:; 6 x_6 = f(6); 7 x_7 = f(7) … 30 def last(): … 40 x_40 = f(40)"


def test_that_an_edit_was_made_is_told_once():
    edit = json.dumps({"command": "str_replace", "path": "/r/a.py", "old_str": "x", "new_str": "y"})
    did = action_of(Turn("assistant", "", {}, calls=(ToolCall("c", "str_replace_editor", edit),)), 0)
    printed = "The file /r/a.py has been edited. Here is a snippet:\n   50\tseen = load_all()\n" + "   51\tx\n" * 30
    told = read(printed, did, taken={"/r/a.py": 4.0, "load_all": 4.0}, most=900).said
    assert told == "The file /r/a.py has been edited; 50 seen = load_all()"


def test_what_is_told_in_full_is_not_begun_before_that():
    listing = "\n".join(f"[FILE] The {name} of the long and winding papers, volume 7.pdf" for name in ("Art", "Bee"))
    told = read(listing, None, taken={"Art": 4.0, "Bee": 4.0}, most=900).said
    assert told.count("[FILE]") == 2
    assert "…" not in told


def test_of_a_page_in_a_browser_it_is_told_where_the_click_led():
    screen = (
        "I clicked 'CSV'.\n\nHere is a screenshot of [Savings | Data](https://data.org/savings?tab=1). The viewport "
        'shows 35% of the webpage.\nThe following metadata was extracted from the webpage:\n\n{\n    "meta": {\n'
        '        "og:type": "website"\n    }\n}\n\nAutomatic OCR of the page screenshot has detected the following '
        "text:\n\nGross savings were 35 percent in 2010\n" + "Menu\nLog in\n" * 9
    )
    told = said(screen, ran("get the data"))
    assert told.startswith("I clicked 'CSV'.; Savings | Data (https://data.org/savings); ")
    assert "OCR" not in told
    assert "meta" not in told
    assert "Gross savings were 35 percent in 2010" in told


def test_a_page_that_other_results_show_as_well_is_not_named_again():
    page = (
        "I scrolled down one page.\n\nHere is a screenshot of [A | B](https://b.org/a).\n{}\n" + "Menu\nLog in\n" * 20
    )
    pages = [page.format(fruit) for fruit in ("Apples", "Pears", "Plums")]
    repeated = Repeated((number, each) for number, each in enumerate(pages))
    assert read(pages[1], action_of(ran("go on"), 0), repeated=repeated).said == "I scrolled down one page.; Pears"


def test_what_a_browser_puts_around_a_short_page_is_left_out():
    page = (
        "I scrolled down one page.\n\nHere is a screenshot of [A | B](https://b.org/a). The viewport shows 9%.\n"
        "Automatic OCR of the page screenshot has detected the following text:\n\nApples\nPears\n<Image>"
    )
    told = read(page, action_of(ran("go on"), 0))
    assert told.said == "I scrolled down one page.; A | B (https://b.org/a); Apples; Pears"
    assert told.size == "8 lines"
    others = [page.replace("Pears", fruit) for fruit in ("Plums", "Grapes", "Figs")]
    repeated = Repeated((number, each) for number, each in enumerate(others))
    assert read(page, action_of(ran("go on"), 0), repeated=repeated).said.endswith("page.; Apples; Pears")
    needed = read(page, action_of(ran("go on"), 0), ["https://b.org/a"], repeated=repeated)
    assert "A | B (https://b.org/a)" in needed.said


def test_of_a_page_the_sentence_goes_first_that_tells_of_what_was_asked():
    news = [
        f"Another train of {town} was late on some day of May again." for town in ("Hull", "York", "Bath", "Leeds")
    ]
    page = "I clicked 'News'.\n\nHere is a screenshot of [News](https://b.org/a).\n" + "\n".join(
        [*news, "In 2019 the line carried 4,495,039 passengers, a record.", *news[::-1]]
    )
    asked = ran("Please find how many passengers the line carried in 2019.")
    assert "4,495,039 passengers" in read(page, action_of(asked, 0)).said


def test_of_a_paragraph_of_a_page_the_sentence_that_tells_of_what_was_asked_is_told_and_no_title_twice():
    history = "The company began as a shop for pianos, and it sold them to schools of the town for many years. " * 2
    offering = "On October 7, 2020, it went public and raised $183 million in its offering. "
    terms = "By going on you agree to our terms of use and to the privacy policy of this site.\n"
    page = (
        "I clicked 'Piano Works - Encyclopedia'.\n\nHere is a screenshot of [Piano Works - Encyclopedia]"
        f"(https://b.org/a). The viewport shows 8%.\n{terms}READ EDIT VIEW HISTORY TOOLS HELP MORE\n"
        f"{history}{offering}{history}\n{'Menu item' * 3}\n{history}{history}\nText copied under licence"
    )
    told = read(page, action_of(ran("Please look up which year the company went public."), 0)).said
    assert told.startswith("I clicked 'Piano Works - Encyclopedia'.; (https://b.org/a)")
    assert "On October 7, 2020, it went public and raised $183 million in its offering." in told
    assert not any(word in told for word in ("TOOLS", "terms", "copied"))


def test_a_page_whose_name_has_no_room_is_not_said_to_be_left_out():
    page = (
        f"I clicked 'News of the line'.\n\nHere is a screenshot of [{'A very long name of a page ' * 9}](https://b.org/a).\n"
        "In 2019 the line carried 4,495,039 passengers, a record.\n" + "Menu\nLog in here\n" * 60
    )
    told = read(page, action_of(ran("Please find how many passengers the line carried."), 0), limit=100).said
    assert told.startswith("I clicked 'News of the line'.; ")
    assert "4,495,039 passengers" in told


def test_of_a_page_of_labels_sentences_are_told_and_not_what_its_reader_says_of_the_answer():
    page = (
        "I clicked 'Month Selection'.\n\nHere is a screenshot of [A | B](https://b.org/a).\n"
        "Here is the transcription of all visible text on the page:\n\n"
        + "Sensor Network\nMaps & Radar\nSevere Weather\n"
        * 4
        + "Review past weather by searching for a city or an airport code.\nPrivacy Policy\n"
        "I have left out the icons. If you need anything else, feel free to let me know!"
    )
    told = read(page, action_of(ran("go on"), 0)).said
    assert told.startswith("I clicked 'Month Selection'.; A | B (https://b.org/a)")
    assert "Review past weather by searching for a city or an airport code." in told
    assert "transcription" not in told
    assert "feel free" not in told


def test_a_line_that_the_next_turn_takes_up_is_told_though_other_results_have_it():
    found = [f"./pkg/m{number}.py" for number in range(30)]
    lists = ["\n".join([*found, f"./own_{number}.py", f"./lib_{number}.py"]) for number in range(3)]
    repeated = Repeated((number, each) for number, each in enumerate(lists))
    told = read(lists[0], action_of(ran("find ."), 0), repeated=repeated, later={"pkg/m17.py": 2.0}).said
    assert "./pkg/m17.py" in told


def test_of_a_long_line_the_part_that_is_taken_up_stands_behind_what_it_begins_with():
    line = "Your fix did not target all lines. " + "Here is a template of it. " * 8 + "Put line_numbers 33, 37 below."
    told = read(line, None, later={"line_numbers": 2.0, "37": 2.0}).said
    assert told == "Your fix did not target all lines. … Put line_numbers 33, 37 below."


def test_of_one_function_that_is_shown_what_it_comes_to_is_told():
    shown = "\n".join(
        f"{number:6}\t{line}"
        for number, line in enumerate(
            [
                "    def to_python(self) -> Series:",
                '        """Convert the values."""',
                *(f"        total_{n} = total_{n - 1} + {n}  # one more step of the sum" for n in range(20)),
                '            raise ValueError("cannot be called with a date")',
                "        return Series(data)",
            ],
            2911,
        )
    )
    told = said(f"Here's the result of running `cat -n` on a.py:\n{shown}")
    assert told == (
        "2911 def to_python(self) -> Series: … "
        '2933 raise ValueError("cannot be called with a date"); 2934 return Series(data)'
    )
