"""What is told of pages that a browser of an agent shows."""

from __future__ import annotations

import json

from told import action, later, ran, read, said

from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.steps import action_of


def test_of_a_page_in_a_browser_it_is_told_where_the_click_led():
    screen = (
        "I clicked 'CSV'.\n\nHere is a screenshot of [Savings | Data](https://data.org/savings?tab=1). The viewport "
        'shows 35% of the webpage.\nThe following metadata was extracted from the webpage:\n\n{\n    "meta": {\n'
        '        "og:type": "website"\n    }\n}\n\nAutomatic OCR of the page screenshot has detected the following '
        "text:\n\nGross savings were 35 percent in 2010\n" + "Menu\nLog in\n" * 9
    )
    told = said(screen, ran("get the data"))
    assert told.startswith("I clicked 'CSV'. Savings | Data (data.org/savings); ")
    assert "OCR" not in told
    assert "meta" not in told
    assert "Gross savings were 35 percent in 2010" in told


def test_a_page_that_other_results_show_as_well_is_not_named_again_but_for_its_address():
    page = (
        "I scrolled down one page.\n\nHere is a screenshot of [A | B](https://b.org/a).\n{}\n" + "Menu\nLog in\n" * 20
    )
    pages = [page.format(fruit) for fruit in ("Apples", "Pears", "Plums")]
    repeated = Repeated((number, each) for number, each in enumerate(pages))
    told = read(pages[1], action_of(ran("go on"), 0), repeated=repeated).said
    assert told == "I scrolled down one page. (b.org/a); Pears; Menu"


def test_what_a_browser_puts_around_a_short_page_is_left_out():
    page = (
        "I scrolled down one page.\n\nHere is a screenshot of [A | B](https://b.org/a). The viewport shows 9%.\n"
        "Automatic OCR of the page screenshot has detected the following text:\n\nApples\nPears\n<Image>"
    )
    told = read(page, action_of(ran("go on"), 0))
    assert told.said == "I scrolled down one page. A | B (b.org/a); Apples; Pears"
    assert told.size == "8 lines"
    others = [page.replace("Pears", fruit) for fruit in ("Plums", "Grapes", "Figs")]
    repeated = Repeated((number, each) for number, each in enumerate(others))
    assert read(page, action_of(ran("go on"), 0), repeated=repeated).said.endswith("page. (b.org/a); Apples; Pears")
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
    assert told.startswith("I clicked 'Piano Works - Encyclopedia'. (b.org/a)")
    assert "On October 7, 2020, it went public and raised $183 million in its offering." in told
    assert not any(word in told for word in ("TOOLS", "terms", "copied"))


def test_a_page_whose_name_has_no_room_is_not_said_to_be_left_out():
    page = (
        f"I clicked 'News of the line'.\n\nHere is a screenshot of [{'A very long name of a page ' * 9}](https://b.org/a).\n"
        "In 2019 the line carried 4,495,039 passengers, a record.\n" + "Menu\nLog in here\n" * 60
    )
    told = read(page, action_of(ran("Please find how many passengers the line carried."), 0), limit=100).said
    assert told.startswith("I clicked 'News of the line'. (b.org/a); ")
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
    assert told.startswith("I clicked 'Month Selection'. A | B (b.org/a)")
    assert "Review past weather by searching for a city or an airport code." in told
    assert "transcription" not in told
    assert "feel free" not in told


def _screen(done: str, shown: str, address: str = "https://b.org/a") -> str:
    return (
        f"{done}\n\nHere is a screenshot of [A | B]({address}). The viewport shows 9%.\n"
        f"Automatic OCR of the page screenshot has detected the following text:\n\n{shown}\n<Image>"
    )


def test_of_a_page_with_hits_their_titles_are_told_with_their_addresses():
    hits = "".join(
        f"{site}\nhttps://{site.lower()}.org/{path}\n{title} ...\n{'Some words of what it says on it. ' * 5}\n\n"
        for site, path, title in (("Rail", "times", "Times of trains"), ("Atlas", "maps", "Maps of the line"))
    )
    page = _screen("I typed 'trains of the line' into the search bar.", f"SEARCH\nNEWS\ntrains of the line\n{hits}")
    told = read(page, action_of(ran("Please look up the trains."), 0)).said
    assert told.startswith("I typed 'trains of the line' into the search bar. A | B (b.org/a); ")
    assert "Times of trains… | https://rail.org/times" in told
    assert "Maps of the line… | https://atlas.org/maps" in told
    assert "NEWS" not in told


def test_what_stands_around_a_page_and_prompts_are_told_last():
    around = "**Top Bar:**\nNew York is at 57 °F and cloudy there\n\n---\n"
    below = "### Footer\nOur apps run on any phone that you may have.\n(Graphic: Wire)\nNew here? Join now\n" * 4
    page = _screen("I clicked 'View'.", f"{around}**Main Content:**\nHistory of weather\nPick a date\n{below}")
    told = read(page, action_of(ran("Please find the weather of June."), 0)).said
    assert "History of weather" in told
    assert not any(word in told for word in ("York", "phone", "Wire", "Join"))


def test_below_what_was_clicked_stands_what_was_looked_for():
    names = "\n".join(f"Flavour {'xiv'[n % 3] * (n + 2)}" for n in range(20))
    page = _screen(
        "I clicked 'Wavy Mint'.", f"{names}\nWavy Mint\n1993-2001\nMint with waves of dark chocolate\n{names}"
    )
    told = read(page, action_of(ran("go on"), 0)).said
    assert "1993-2001; Mint with waves of dark chocolate" in told


def test_a_question_of_a_page_is_no_answer():
    asks = "How many passengers did the line carry in the year 2019?\n"
    answer = "The line had 4,495,039 of them in the year 2019.\n"
    page = _screen("I clicked 'More'.", f"{asks}{'Menu item here ' * 20}\n{answer}")
    told = read(page, action_of(ran("Please find how many passengers the line carried in 2019."), 0)).said
    assert "4,495,039" in told
    assert "How many" not in told


def test_of_a_page_in_little_room_what_was_done_is_cut_before_where_it_led():
    done = f"I typed '{'trains of the line ' * 9}' into the bar."
    page = _screen(done, "Menu\nApples\n" * 30, "https://b.org/find?q=1")
    told = read(page, action_of(ran("go on"), 0), limit=56).said
    assert told.startswith("I typed 'trains of the…")
    assert "(b.org/find)" in told


def test_of_a_search_whose_hits_are_json_behind_a_label_the_titles_are_told_and_not_what_was_asked():
    hits = [
        {"title": f"Maps of {place}, old and new", "url": f"https://maps.org/{place}"} for place in ("Oslo", "Rome")
    ]
    found = f'Web search results for query: "old maps"\n\nLinks: {json.dumps(hits)}\n\n' + "These are all. " * 20
    asks = action("WebSearch", query="old maps")
    told = read(found, asks).said
    assert told.startswith("Maps of Oslo, old and new | https://maps.org/Oslo; Maps of Rome, old and new | https://")
    assert read(found, asks, limit=60).said == "Maps of Oslo, old and new; Maps of Rome, old and new"
    taken = later(url="https://maps.org/Rome")
    assert "Maps of Rome, old and new | https://maps.org/Rome" in read(found, asks, later=taken).said


def test_a_line_that_says_that_nothing_was_found_is_no_echo():
    told = read('No results for "old maps"\nTry other words.', action("WebSearch", query="old maps")).said
    assert told == 'No results for "old maps" Try other words.'


def test_what_was_clicked_is_no_echo_though_it_was_asked_for():
    asked = action("browser", task="Please click on 'Dastardly Mash' in the list")
    assert read("I clicked 'Dastardly Mash'.\nIt was made until 1991.", asked).said.startswith(
        "I clicked 'Dastardly Mash'."
    )


def test_the_elements_of_a_page_that_are_listed_on_one_line_are_told_one_by_one():
    shown = ";\t".join(f'[{number}]: <button> "Quay {number}"' for number in range(40))
    told = read(f'Observation: {shown};\t[40]: "Ferry to Skarn";', action("Click", element="3")).said
    assert '[0]: <button> "Quay 0"' in told
    assert all(part.count('"') % 2 == 0 for part in told.split("; "))


def test_a_page_below_its_address_is_told_by_its_title_and_what_it_shows():
    head = "Address: file:///srv/rates.zip\nTitle: Download complete.\n"
    head += "You previously visited this page 9 seconds ago.\nViewport position: Showing page 1 of 1.\n==========\n"
    saved = f"{head}# Download complete\n\nSaved file to '/srv/rates.zip'"
    assert said(saved) == "Download complete; /srv/rates.zip; Saved file to '/srv/rates.zip'"
    again = Repeated([(("open", ""), saved)] * 3)
    assert read(saved, repeated=again).said == "Download complete; Saved file to '/srv/rates.zip'"
