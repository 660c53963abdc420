"""What is told of records where later turns use some of their values."""

from __future__ import annotations

import json

import pytest
from told import read, read_structured


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


@pytest.mark.parametrize("number", [4, 7, 10])
def test_of_journeys_that_share_a_leg_that_is_told_which_later_turns_use(number: int):
    def leg(name: str, origin: str, departs: str) -> dict[str, object]:
        return {"flight": name, "origin": origin, "departs": f"{departs}:00", "seats": {"economy": 9, "first": 2}}

    last = leg("HAT039", "ATL", "22:00")
    trips = [[leg(f"HAT{n}", "JFK", f"{n}:30"), last] for n in range(14, 14 + number)]
    wanted = dict.fromkeys(("HAT17", "HAT039", "JFK", "17:30", "22:00"), 4.0)
    told, size, _ = read_structured(trips, wanted, 60, 180)
    used = next(trip for trip in told.split("[") if "flight=HAT17" in trip)
    assert all(each in used for each in ("departs=17:30:00", "origin=JFK", "HAT039", "22:00:00)]"))
    assert size == f"{number} items"


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
        "[[(flight=HAT84, prices=(economy=112, …)); (HAT175, (economy=170, …))]; "
        "[(flight=HAT229, prices=(economy=109, …)); HAT175]; [(flight=HAT84); HAT229]]"
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


def test_a_record_that_is_needed_is_told_before_the_names_of_those_beside_it():
    cards = {f"card_{n}918{n}": {"source": "card", "amount": 100 + n} for n in range(9)}
    said = read(json.dumps({"id": 7, "cards": cards}), None, ["card_39183"], 60, most=100).said
    assert "card_39183=(source=card, amount=103)" in said


def test_a_word_is_told_with_the_value_of_which_most_is_said_not_with_the_first_that_has_it():
    page = "It came out in 2024 at a price of 18 euros. Another sentence says nothing to anybody who reads it. " * 3
    paper = {"producer": "This is pdfTeX, Version 3.141592653-2.6 (TeX Live 2024) kpathsea 6.3.5", "year": 2024}
    told, _, _ = read_structured({"info": paper, "text": page}, {"2024": 2.0}, 150, 170)
    assert "year=2024" in told
    assert "pdfTeX" not in told
    told, _, _ = read_structured({"info": paper | {"year": 0}, "text": page}, {"2024": 2.0, "euros": 2.0}, 150, 170)
    assert "It came out in 2024 at a price of 18 euros." in told
    assert "pdfTeX" not in told


def test_records_are_named_by_their_names_where_machines_know_them_by_long_numbers():
    venues = [
        {
            "id": 5931226986 + number,
            "name": f"Cafe {letter}",
            "tags": {"open": f"Mo-Su 07:0{number}-19:00", "x": "-" * 60},
        }
        for number, letter in enumerate("ABCDEFGH")
    ]
    told, _, _ = read_structured(venues, {"07:03-19:00": 4.0}, 150, 300)
    assert "(Cafe D, Mo-Su 07:03-19:00)" in told
    assert "593122" not in told
    alike = [each | {"name": "Unnamed"} for each in venues]
    told, _, _ = read_structured(alike, {"07:03-19:00": 4.0}, 150, 300)
    assert "(5931226989, Mo-Su 07:03-19:00)" in told


def test_records_that_are_left_out_are_counted_where_they_stand():
    legs = [
        [{"flight": f"HAT{trip}{leg}", "gate": trip * 5 + leg, "crew": ["x" * 90]} for leg in (1, 2)]
        for trip in range(1, 4)
    ]
    told, _, _ = read_structured(legs, {"HAT22": 4.0}, 40, 50)
    assert told == "[… 1 more; [… 1 more; (flight=HAT22)]; … 1 more]"


def test_of_objects_side_by_side_in_a_record_the_same_is_told():
    classes = ("basic", "economy", "business")
    flights = [
        {
            "flight": f"HAT{number}",
            "seats": dict(zip(classes, (20, 0, number), strict=True)),
            "prices": dict(zip(classes, (number, 100 + number, 300 + number), strict=True)),
        }
        for number in (41, 52)
    ]
    told, _, _ = read_structured(flights, {"141": 4.0}, 60, 120)
    assert told.startswith("[(flight=HAT41, seats=(economy=0, …), prices=(economy=141, …))")


def test_a_figure_with_many_decimals_is_no_place_on_earth_unless_its_key_says_so():
    place = {"lat": 52.5200066, "lng": 13.4049540, "tokens": list(range(90))}
    told, _, _ = read_structured({"run_time": 88.65957187628374, **place}, {}, 60, 60)
    assert told.startswith("run_time=88.65957187628374, ")
    told, _, _ = read_structured({**place, "score": 0.1234567, "latency": 0.3456789}, {}, 60, 60)
    assert "score=0.1234567, latency=0.3456789" in told
    assert "lat=" not in told
