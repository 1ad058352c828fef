"""Odd tables of matches, as people and feeds write them: each is read right, or a sentence asks.

What is right stands beside each table: ``A>B`` (A at home won), ``A=B`` (drawn), ``A<B``, in the order of the file, and
how many rows were set aside under which reason; or the words of the sentence that asks.
"""

import pytest

import kinelo as kn

LATER, BROKEN, GIVEN = "match not played yet", "match not played to its end", "forfeit or awarded match"
SCORE = "date,home,away,hs,as\n"
MAPPED = {"home_score": "hs", "away_score": "as"}


def shown(matches):
    """Matches in the order of the file, each as A>B."""
    sign = {0.0: "<", 0.5: "=", 1.0: ">"}
    said = {}
    for row, home, away, result in zip(matches.row, matches.home, matches.away, matches.result):
        said[int(row)] = f"{matches.teams[home]}{sign.get(float(result), '?')}{matches.teams[away]}"
    return " ".join(said[row] for row in sorted(said))


def status(*words, header="status"):
    """A table of matches that end 2-0, 0-0, 0-0, …, with these words beside them."""
    lines = [f"2024-01-0{k + 1},H{k},A{k},{2 if k == 0 else 0},0,{word}" for k, word in enumerate(words)]
    return f"date,home,away,home_score,away_score,{header}\n" + "\n".join(lines)


def lines(*scores, header="date,home,away,score"):
    """A table with these scores."""
    return f"{header}\n" + "\n".join(f"2024-01-0{k + 1},H{k},A{k},{score}" for k, score in enumerate(scores))


def days(*dates):
    """A table with these dates, whose matches all end 1-0."""
    return "date,home,away,score\n" + "\n".join(f"{day},H{k},A{k},1-0" for k, day in enumerate(dates))


ODD_MATCHES = {
    # Feeds and what they call a status.
    "codes of a football feed": (
        status("FT", "NS", "AET", "PST", "1H", "CANC", "PEN"), "H0>A0 H2=A2 H6=A6", {LATER: 2, BROKEN: 2}),
    "words of a football feed": (
        status("FINISHED", "TIMED", "IN_PLAY", "PAUSED", "SCHEDULED", "POSTPONED", "FINISHED"),
        "H0>A0 H6=A6", {LATER: 3, BROKEN: 2}),
    "types of a sports feed": (
        status("STATUS_FINAL", "STATUS_SCHEDULED", "STATUS_FULL_TIME", "STATUS_HALFTIME", "STATUS_POSTPONED"),
        "H0>A0 H2=A2", {LATER: 2, BROKEN: 1}),
    "whole words": (
        status("Match Finished", "Not Started", "Match Postponed", "Match Finished"), "H0>A0 H3=A3", {LATER: 2}),
    "small words run together": (
        status("closed", "notstarted", "inprogress", "ended", "created"), "H0>A0 H3=A3", {LATER: 2, BROKEN: 1}),
    "a minute as the status": (status("FT", "67'", "90+3'", "FT"), "H0>A0 H3=A3", {BROKEN: 2}),
    "how matches ended, in time or later": (
        status("Regular", "ExtraTime", "Penalties", "Regular"), "H0>A0 H1=A1 H2=A2 H3=A3", {}),
    "extra time that is being played": (status("Finished", "Extra Time", "Finished"), "H0>A0 H2=A2", {BROKEN: 1}),
    "a kick-off as the status": (status("Final", "19:30", "Sat 15:00", "7:30 PM ET", "Final"), "H0>A0 H4=A4",
        {LATER: 3}),
    "overtime in the status": (
        status("Final/OT", "Final/SO", "F/10", "FT (AET)", "Final (11 innings)"), "H0>A0 H1=A1 H2=A2 H3=A3 H4=A4", {}),
    "remarks in brackets": (
        status("FT (AET)", "FT (abandoned)", "Finished (awarded)", "FT (2-1)", "Postponed (rain)"), "H0>A0 H3=A3",
        {BROKEN: 1, GIVEN: 1, LATER: 1}),
    "a remark nobody knows": (status("FT", "FT (zzz)"),
        "asks: 'status' says 'FT (zzz)' of 1 match with a result, and nothing tells whether it was played", {}),
    "a dotted header": (
        status("FT", "NS", "FT", header="fixture.status.short"), "H0>A0 H2=A2", {LATER: 1}),
    "short and long beside a number": (
        status("FT,Match Finished,3", "NS,Not Started,1", header="status_short,status_long,status_id"), "H0>A0",
        {LATER: 1}),
    "numbers of a status": (status("3", "1", "3"), "asks: 'status' says '3', '1' of 3 matches", {}),
    "a status nobody knows": (
        status("FT", "Frobbed", "FT"), "asks: 'status' says 'Frobbed' of 1 match with a result, and nothing tells",
        {}),
    "a status in another script": (status("Завершён", "Не начался"), "asks: 'status' says 'Завершён'", {}),
    "a status nobody knows without a score": (
        "date,home,away,score,status\n2024-01-01,A,B,1-0,FT\n2024-01-02,C,D,,Frobbed", "A>B", {"missing score": 1}),
    "German": (
        status("beendet", "geplant", "abgesagt", "verlegt", "läuft", "abgebrochen", "Wertung"),
        "H0>A0", {LATER: 2, BROKEN: 3, GIVEN: 1}),
    "French": (status("Terminé", "À venir", "Reporté", "Annulé", "Forfait"), "H0>A0", {LATER: 2, BROKEN: 1, GIVEN: 1}),
    "Spanish": (
        status("Finalizado", "Programado", "Aplazado", "Suspendido", "Por jugar"), "H0>A0", {LATER: 3, BROKEN: 1}),
    "Portuguese": (status("Encerrado", "Agendado", "Adiado", "Não iniciado"), "H0>A0", {LATER: 3}),
    "Italian": (status("Terminata", "In programma", "Rinviata", "Sospesa"), "H0>A0", {LATER: 2, BROKEN: 1}),
    "Dutch": (status("Afgelopen", "Gepland", "Uitgesteld", "Gestaakt"), "H0>A0", {LATER: 2, BROKEN: 1}),
    "a state with another name": (
        status("Completed", "Sched", "Retired", "Walkover", "Completed", header="Comment"),
        "H0>A0 H4=A4", {LATER: 1, BROKEN: 1, GIVEN: 1}),
    "yes and no": (status("True", "False", "True", header="finished"), "H0>A0 H2=A2", {LATER: 1}),
    "1 and 0": (status("1", "0", "1", header="isResult"), "H0>A0 H2=A2", {LATER: 1}),
    "a flag of cancelled ones": (status("", "yes", "no", header="cancelled"), "H0>A0 H2=A2", {BROKEN: 1}),
    "states of a country": (status("IN", "OK", "CA", header="state"), "H0>A0 H1=A1 H2=A2", {}),
    "a round called final": (status("Final", "Semi-final", "Final", header="round"), "H0>A0 H1=A1 H2=A2", {}),
    "remarks here and there": (
        status("", "rain", "Abandoned", header="remarks"), "note: 'remarks' says 'Abandoned' and was not used", {}),
    "a flag of those begun": (status("1", "0", "1", header="started"), "H0>A0 H2=A2", {LATER: 1}),
    "a flag of postponed ones": (status("no", "yes", "no", header="postponed"), "H0>A0 H2=A2", {LATER: 1}),
    "times of kick-off and of the end": (
        status("FT", "15:00", "Postp.", "FT", header="time"), "H0>A0 H3=A3", {LATER: 2}),
    "kick-offs, one to be announced": (status("15:00", "TBA", "20:45", header="kickoff_uk"), "H0>A0 H1=A1 H2=A2", {}),
    "a broadcast": (status("Sky", "Live", "ARD", header="tv"), "note: 'tv' says 'Live' and was not used", {}),
    "no score after today": (
        "date,home,away,home_score,away_score\n2024-01-01,A,B,2,1\n2031-01-02,C,D,0,0",
        "note: 1 match after today ends 0-0, as many tables say of matches to come: it counts as drawn", {}),
    "status words behind scores": (
        lines("2-1", "0-0 NS", "1-1 67'", "1-0 HT", "3-3 FT"), "H0>A0 H4=A4", {"unreadable score": 3}),
    "a legend for two legs": (lines("2-1 (agg 3-3)", "0-0 (abandoned)", "1-2"), "H0>A0 H2<A2", {BROKEN: 1}),
    "two header rows": (
        "Home,,Away,\nteam,goals,team,goals\nA,2,B,1\nC,0,D,0", "asks: has neither scores nor results", {}),
    "a column of scores by an unknown name": (
        "Heim;Gast;Saison;Beginn;Tore\nA;B;2023-24;19:30;2:1\nB;A;2023-24;20:15;0:12",
        "asks: or columns={'result': 'Tore'}, its columns", {}),
    "two columns of scores by unknown names": (
        "Heim;Gast;Halbzeit;Tore\nA;B;1:0;2:1\nB;A;0:5;0:12", "asks: or columns={'result': ...}, its columns", {}),
    "columns of which none holds scores": (
        "Heim;Gast;Saison;Beginn\nA;B;2023-24;19:30\nB;A;2023-24;20:15",
        "asks: or columns={'result': ...}, its columns", {}),
    "winners of matches under way": (
        "date,home,away,winner,status\n2024-01-01,A,B,A,FT\n2024-01-02,C,D,C,Live\n2024-01-03,D,C,C,FT", "A>B D<C",
        {BROKEN: 1}),
    "margins of matches to come": (
        "date,home,away,margin,status\n2024-01-01,A,B,3,FT\n2024-01-02,C,D,0,NS", "A>B", {LATER: 1}),
    "blank statuses": (status("", "Postponed", ""), "H0>A0 H2=A2", {LATER: 1}),
    # Scores in one column.
    "forfeits with a letter": (
        lines("2-1", "0-3 (f)", "0-3 F", "3-0*", "1-1", "0-2", "4-4"), "H0>A0 H4=A4 H5<A5 H6=A6", {GIVEN: 3}),
    "final with a letter": (lines("112-108 F", "99-100 F", "101-98 F/OT", "80-90 F"), "H0>A0 H1<A1 H2>A2 H3<A3", {}),
    "forfeits in words": (
        lines("2-1", "3-0 W/O", "0-3 (forfait)", "3:0 Wertung", "0-3 (a tavolino)", "1-2", "2-2", "0-1", "5-1"),
        "H0>A0 H5<A5 H6=A6 H7<A7 H8>A8", {GIVEN: 4}),
    "brackets with a word nobody knows": (
        lines("2-1", "1-0 (zzz)", "0-2 (1-0)", "2-2 (HT 1-1)"), "H0>A0 H2<A2 H3=A3", {"unreadable score": 1}),
    "penalties": (
        lines("1-1 (4-2 pens)", "3-2 SO", "2-2 aet", "1:1 n.V.", "0-0 (5-4 p)"), "H0=A0 H1>A1 H2=A2 H3=A3 H4=A4", {}),
    "away before home": (
        lines("1-2", "3-0", header="date,away,home,score"), "A0>H0 A1<H1", {}),
    "Black before White": (lines("1-0", "0-1", "1/2-1/2", header="date,black,white,result"), "A0>H0 A1<H1 A2=H2", {}),
    "kick-offs among scores": (lines("2:1", "15:00", "20:45", "0:0", "19:30"), "H0>A0 H3=A3", {LATER: 3}),
    "kick-offs alone": (lines("15:00", "20:45"), "asks: No match of", {}),
    "handball": (lines("31:28", "25:25", "22:30"), "H0>A0 H1=A1 H2<A2", {}),
    "scores that became dates": (
        lines("2-1", "03-Feb", "1-1", "0-1"), "H0>A0 H2=A2 H3<A3", {"a score that became a date": 1}),
    "postponed in the place of a score": (
        lines("2-1", "postponed", "P-P", "abandoned", "1-1", "0-1"), "H0>A0 H4=A4 H5<A5",
        {LATER: 1, BROKEN: 1, "unreadable score": 1}),
    "halves": (lines("2½-1½", '"0,5-3,5"', "2-2"), "H0>A0 H1<A1 H2=A2", {}),
    "sets": (lines("6-4 3-6 7-5", "6-4 2-1 ret.", "3-6 4-6"), "H0>A0 H2<A2", {BROKEN: 1}),
    "a dash of another kind": (lines("2–1", "0−3", "1 : 1"), "H0>A0 H1<A1 H2=A2", {}),
    # Scores in two columns.
    "blank scores": ("date,home,away,home_score,away_score\n2024-01-01,A,B,2,1\n2024-01-02,C,D,,\n2024-01-03,E,F,-,-",
                     "A>B", {"missing score": 2}),
    "walkovers as letters": (
        "date,home,away,home_score,away_score\n2024-01-01,A,B,2,1\n2024-01-02,C,D,W,F\n2024-01-03,E,F,0,0",
        "A>B E=F", {"unreadable score": 1}),
    "byes": ("date,home,away,score\n2024-01-01,A,B,2-1\n2024-01-01,C,bye,1-0\n2024-01-02,B,A,0-0", "A>B B=A",
             {"a name that stands for none": 1}),
    "two columns of one name": ("Date,Visitor,G,Home,G\n2024-01-01,A,1,B,2\n2024-01-02,B,3,A,0", "B>A A<B", {}),
    "points between thousands": (
        "date,home,away,home_score,away_score\n2024-01-01,A,B,1.012,998\n2024-01-02,B,A,870,1.100", "A>B B<A", {}),
    "halves of a match beside the end": (
        "Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR,HTHG,HTAG,HTR\n01/08/2023,A,B,2,1,H,0,1,A\n15/08/2023,B,A,0,0,D,0,0,D",
        "A>B B=A", {}),
    "a total at the bottom": (
        "date,home,away,home_score,away_score\n2024-01-01,A,B,2,1\n2024-01-02,B,A,0,3\nTotal,,,2,4", "A>B B<A",
        {"missing side": 1}),
    "one row for each team": (
        "game_id,date,team,venue,goals,status\n1,2024-01-01,A,home,2,FT\n1,2024-01-01,B,away,1,FT\n"
        "2,2024-01-02,B,home,0,NS\n2,2024-01-02,A,away,0,NS", "A>B", {LATER: 1}),
    # Letters, separators and headers.
    "semicolons and a mark": (
        "\ufeffDatum;Heim;Gast;Ergebnis;Status\n05.01.2024;A;B;2:1;beendet\n06.01.2024;B;A;0:0;offen", "A>B",
        {LATER: 1}),
    "quoted newlines": ('date,home,away,score,note\n2024-01-01,A,B,2-1,"rain\nand wind"\n2024-01-02,B,A,0-0,x',
        "A>B B=A", {}),
    "blanks that do not break": (
        "date,home,away,score,status\n2024-01-01,A\u00a0,B,2\u00a0-\u00a01,FT\u00a0\n2024-01-02,B,A,0-0,\u00a0NS",
        "A>B", {LATER: 1}),
    "a title above": ("League 2024,,,\n,,,\ndate,home,away,score\n2024-01-01,A,B,2-1\n2024-01-02,B,A,0-1", "A>B B<A",
        {}),
    "the header again in the middle": (
        "date,home,away,score\n2024-01-01,A,B,2-1\ndate,home,away,score\n2024-01-02,B,A,0-1\n2024-01-03,A,B,1-1",
        "A>B B<A A=B", {"unreadable date": 1}),
    "days of a block once": (
        "date,home,away,score\n2024-01-01,A,B,2-1\n,C,D,0-0\n2024-01-02,B,A,0-1\n,D,C,2-0", "A>B C=D B<A D>C", {}),
    # Dates.
    "weekdays of the month first": (days("Mon 01/02/2023", "Tue 01/03/2023"), "2023-01-02 2023-01-03", {}),
    "weekdays of the day first": (days("Wed 01/02/2023", "Sat 04/02/2023"), "2023-02-01 2023-02-04", {}),
    "German weekdays": (days("Di. 03.01.2023", '"Mittwoch, 04.01.2023"'), "2023-01-03 2023-01-04", {}),
    "French weekdays": (days("mar. 03/01/2023", "mer. 04/01/2023"), "2023-01-03 2023-01-04", {}),
    "a weekday behind": (days("01/03/2023 (Tue)", "01/04/2023 (Wed)"), "2023-01-03 2023-01-04", {}),
    "a weekday beside": (
        "Day,date,home,away,score\nTue,01/03/2023,A,B,1-0\nWed,01/04/2023,B,A,1-0", "2023-01-03 2023-01-04", {}),
    "mixed dates": (days("2023-01-03", "04.01.2023", "5 Jan 2023", "44932"),
        "2023-01-03 2023-01-04 2023-01-05 2023-01-06", {}),
    "no weekday fits": (
        days("Fri 01/03/2023", "Sun 01/04/2023"), "note: 2 dates contradict their weekday", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_MATCHES)
def test_odd_matches_are_read_right_or_asked_about(name, tmp_path):
    text, right, aside = ODD_MATCHES[name]
    path = tmp_path / "odd.csv"
    path.write_text(text, encoding="utf-8")
    if right.startswith("asks: "):
        with pytest.raises(kn.InputError) as asked:
            kn.read_matches(path)
        assert right.removeprefix("asks: ") in str(asked.value)
        return
    matches = kn.read_matches(path, accept_losses=True)
    if right.startswith("note: "):
        assert any(right.removeprefix("note: ") in note for note in matches.notes)
    elif right.startswith("20"):
        assert " ".join(map(str, matches.date)) == right
    else:
        assert shown(matches) == right
    assert matches.rejected.counts() == aside


def test_matches_to_come_are_fixtures_without_a_result(tmp_path):
    """The same words keep a match to come where it is to be forecast; one that was broken off is left out."""
    (tmp_path / "f.csv").write_text(status("FT", "NS", "Postponed", "Live", "Abandoned"))
    matches = kn.read_matches(tmp_path / "f.csv", played=False, accept_losses=True)
    assert shown(matches) == "H0>A0 H1?A1 H2?A2" and matches.rejected.counts() == {BROKEN: 2}


def test_a_word_that_is_said_counts_as_said(tmp_path):
    (tmp_path / "f.csv").write_text(status("FT", "Frobbed", "Zed", "0-0"))
    said = {"frobbed": "finished", "ZED": "to come", "0-0": "forfeit"}
    matches = kn.read_matches(tmp_path / "f.csv", endings=said)
    assert shown(matches) == "H0>A0 H1=A1" and matches.rejected.counts() == {LATER: 1, GIVEN: 1}
    starred = kn.read_matches(
        {"home": ["A"] * 3, "away": ["B"] * 3, "score": ["1-0", "3-0*", "0-2"]}, endings={"*": "finished"}
    )
    assert shown(starred) == "A>B A>B A<B"


def test_there_are_sixty_odd_tables_of_matches():
    assert len(ODD_MATCHES) >= 60
