"""Every option of every command that takes matches and contests: taken of both, or refused of one with a sentence."""

from __future__ import annotations

import json
import types

import pytest
import typer.main
from scripted import Obedient
from typed import kinelo, one_sentence

from kinelo.cli import app
from kinelo.cli.predict import ASKED_OF

KINDS = ("matches", "contests")
RATED_BY = ("--rater", "scripted:Obedient")
COMMANDS = {
    "rate": ("rate", "{kind}.csv"),
    "predict": ("predict", "{kind}-next.csv", "--results", "{kind}.csv"),
    "backtest": ("backtest", "{kind}.csv", "--train-until", "2024-01-07"),
    "preview": ("predict", "--preview", "--match", "{typed}", "--results", "{kind}.csv"),
    "why": ("why", "--of", "Anne", "--results", "{kind}.csv"),
    "balance": ("predict", "--balance", "Anne; Bob; Cid; Dee", "--results", "{kind}.csv"),
    "fair": ("predict", "--fair", "handicap", "--match", "{typed}", "--results", "{kind}.csv"),
}
TYPED = ("preview", "why", "balance", "fair")
"""Commands in which names are typed: Anne, who is Ann by the aliases."""
OF_BOTH = {
    "--column": "{first}=one", "--condition": "surface", "--noise-by": "format", "--covariate": "handicap",
    "--start": "start.csv", "--rejects": "out-rejects.csv", "--out": "out.csv",
    "--board": "out-board.csv", "--json": None, "--by": "surface",
    "--active-days": "900", "--least-matches": "1", "--top": "3", "--caution": "1", "--played-since": "2024-01-07",
    "--since": "2024-01-02", "--train-until": "2024-01-07", "--date": "2024-03-01", "--last": "2",
    "--apart": "Anne, Bob", "--together": "Bob, Cid", "--role": "Anne=keeper", "--newcomers": "1", "--show": "2",
    "--seed": "3", "--sides": "2",
}  # fmt: skip
"""What makes sense of both, and an example of it."""
PLAIN_ELO = {"--k": "24", "--initial": "1200"}
"""These ask for a rater of their own."""
REFUSED = {
    "--lineups": ("lineups.csv", "for which there is no --lineups"),
    "--neutral": (None, "for which there is no --neutral"),
    "--ranks": (None, "--ranks needs --rater bradley-terry"),
    "--k-of": ("k.csv", "--k-of says the K of some"),
    "--k-first": ("40", "--k-first says how K begins"),
    "--k-halfway": ("5", "--k-halfway says how K begins"),
    "--rules": ("fide", "leave out --rater"),
    "--event": ("surface", "--event goes with --rules fide"),
    "--born": ("k.csv", "--born goes with --rules fide"),
    "--as-of": ("2025-10-01", "--as-of goes with --rules fide"),
}
"""What contests do not take, and the sentence that says so."""
ELSEWHERE = {"--preview", "--fair", "--balance", "--of", "--home-lineup", "--away-lineup",
             "--help", "--lineups", "--rater", "--book", "--results", "--match", "--metric", "--picture",
             "--workers", "--scheduler"}  # fmt: skip
"""Needed above, or held by tests of their own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Matches and races in which Anne is Ann, what comes next, and files that options name."""
    path = tmp_path_factory.mktemp("both")
    names, circumstances = ("Ann", "Bob", "Cid", "Dee"), [("grass", "bo5", 1.5), ("clay", "bo3", -0.5)]
    matches = ["date,one,away,result,surface,format,handicap"]
    races = ["date,race,one,place,surface,format,handicap"]
    for k in range(8):
        day, told = f"2024-01-0{k + 1}", ",".join(map(str, circumstances[k % 2]))
        home, away = ("Anne" if k == 4 else names[k % 4]), names[(k + 1) % 4]
        matches.append(f"{day},{home},{away},{(1, 0, 0.5)[k % 3]},{told}")
        races += [
            f"{day},r{k},{name},{place + 1},{told}" for place, name in enumerate((home, away, names[(k + 2) % 4]))
        ]
    (path / "matches.csv").write_text("\n".join(matches))
    (path / "contests.csv").write_text("\n".join(races))
    told = "grass,bo5,0.5"
    (path / "matches-next.csv").write_text(f"{matches[0]}\n2024-02-01,Ann,Bob,,{told}\n")
    (path / "contests-next.csv").write_text(f"{races[0]}\n2024-02-01,n,Ann,,{told}\n2024-02-01,n,Bob,,{told}\n")
    (path / "aliases.csv").write_text("found,wanted\nAnne,Ann\n")
    (path / "start.csv").write_text("name,rating\nAnn,1700\nBob,1400\n")
    (path / "k.csv").write_text("name,k\nAnn,40\n")
    (path / "lineups.csv").write_text("match,side,player\n1,home,Ann\n")
    for kind, first in (("matches", "home"), ("contests", "entrant")):
        aliases = ("--aliases", path / "aliases.csv", "--column", f"{first}=one")
        assert kinelo("read", path / f"{kind}.csv", *aliases).returncode == 0
    return path


def options_of(command: str) -> list[str]:
    """The long names of all options of a command."""
    name, form = COMMANDS.get(command, (command, ""))[:2]
    params = typer.main.get_command(app).commands[name].params  # type: ignore[attr-defined]
    others = {*sum(ASKED_OF.values(), ())} - {*ASKED_OF.get(form, ASKED_OF[""])} if name == "predict" else {}
    return [param.opts[0] for param in params if param.param_type_name == "option" and param.name not in others]


def said(words, kind: str) -> list[str]:
    first, typed = {"matches": ("home", "Anne - Bob"), "contests": ("entrant", "Anne; Bob; Cid")}[kind]
    return [str(word).format(kind=kind, first=first, typed=typed) for word in words if word is not None]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_of_both_or_refused_of_one(command):
    known = {*OF_BOTH, *PLAIN_ELO, *ELSEWHERE, *REFUSED}
    assert sorted({*options_of(command)} - known) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_makes_sense_of_both_is_taken_of_both(command, kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    own = {*COMMANDS[command], *(["--out"] if command in TYPED else [])}  # that of why is a page
    own |= {"--by", "--board"} if command == "rate" else set()  # boards, below
    options = [name for name in options_of(command) if name in OF_BOTH and name not in own]
    asked = [word for name in options for word in (name, OF_BOTH[name])]
    Obedient.asked.clear()
    done = kinelo(*said((*COMMANDS[command], *RATED_BY, *asked), kind))
    assert done.returncode == 0, done.stderr
    assert len(Obedient.asked) == 1
    for told in Obedient.asked:
        assert told["noun"] == kind and told["names"] == {"Ann", "Bob", "Cid", "Dee"}
        assert (told["conditions"], told["noise_by"], told["covariates"]) == (["surface"], ["format"], ["handicap"])
        assert str(told["start"]) == "start.csv" and {"surface", "format", "handicap"} <= told["columns"]
        assert command not in TYPED or ("Ann" in str(told["typed"]) and "Anne" not in str(told["typed"]))
    assert command in TYPED or (folder / "out.csv").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_boards_of_both_are_written(kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    used = ("--covariate", "handicap", "--noise-by", "format", "--condition", "surface", "--column", "{first}=one")
    Obedient.asked.clear()
    words = (*COMMANDS["rate"], *RATED_BY, "--by", "surface", "--board", "out-board.csv")
    done = kinelo(*said((*words, *used), kind))
    assert done.returncode == 0, done.stderr
    assert len(Obedient.asked) == 2 and all(told["noun"] == kind for told in Obedient.asked)
    assert {line.split(",")[-1] for line in (folder / "out-board.csv").read_text().splitlines()[1:]} == {
        "grass",
        "clay",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_plain_elo_is_asked_for_alike(kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    asked = [word for pair in PLAIN_ELO.items() for word in pair]
    column = ("--column", "{first}=one", "--least-matches", "0")
    done = kinelo(*said((*COMMANDS["rate"], *asked, *column), kind))
    assert done.returncode == 0 and "Elo, K = 24" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_of_matches_is_refused_of_contests(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    options = {name: REFUSED[name] for name in options_of(command) if name in REFUSED}
    assert options
    for name, (value, sentence) in options.items():
        rater = () if name.startswith("--k") else RATED_BY
        done = kinelo(*said((*COMMANDS[command], *rater, name, value), "contests"))
        assert sentence in one_sentence(done), name


OF_READ = {"--column": "{first}=one", "--aliases": "aliases.csv", "--write-aliases": "out-likely.csv", "--dates": "ymd",
           "--ending": "XYZ=finished", "--accept-losses": None}  # fmt: skip
OF_READ_ALONE = {
    "matches": {"--scale": "points", "--drop-repeats": None, "--ordered": None},
    "contests": {"--slot": "one", "--advantage": "surface", "--team": "surface", "--best": "lowest",
                 "--unfinished": "last", "--disqualified": "last", "--not-started": "last"},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_read_is_taken_or_refused(kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    own, other = OF_READ_ALONE[kind], OF_READ_ALONE[KINDS[kind == "matches"]]
    elsewhere = {"--rejects", "--json", "--help", "--sheet", "--coming"}
    assert sorted({*options_of("read")} - {*OF_READ, *own, *other, *elsewhere}) == []
    (folder / f"other-{kind}.csv").write_text((folder / f"{kind}.csv").read_text())
    words = [word for name, value in (OF_READ | own).items() if name != "--team" for word in (name, value)]
    done = kinelo(*said(("read", "other-{kind}.csv", *words, "--json"), kind))
    assert done.returncode == 0 and (folder / "out-likely.csv").is_file(), done.stderr
    kept = json.loads(done.stdout)["reading"]
    told = ("scale", "drop_repeats", "ordered") if kind == "matches" else ("slots", "advantages", "best", "unfinished")
    assert {name.replace("scale", "results") for name in told} <= {*kept}
    assert {"aliases", "dates", "endings", "accept_losses"} <= {*kept}
    refused = "is for contests, with one row" if kind == "matches" else "for which there is no"
    for name, value in other.items():
        done = kinelo(*said(("read", "other-{kind}.csv", name, value), kind))
        assert refused in one_sentence(done) and name in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_the_other_commands_say_where_options_of_read_went(command):
    for name, value in (OF_READ | OF_READ_ALONE["matches"] | OF_READ_ALONE["contests"]).items():
        if name not in OF_BOTH:
            done = kinelo(*said((*COMMANDS[command], name, value), "matches"))
            assert f"{name} is an option of kinelo read" in one_sentence(done)
            assert f"kinelo read FILE {name} …, then kinelo {COMMANDS[command][0]} without it" in done.stderr


@pytest.mark.parametrize(("kind", "name"), [("matches", "rank"), ("contests", "kalman")])
@pytest.mark.parametrize("command", COMMANDS)
def test_raters_of_the_other_kind_are_refused(command, kind, name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    sentence = one_sentence(kinelo(*said((*COMMANDS[command], "--rater", name, "--column", "{first}=one"), kind)))
    assert f"--rater {name} rates " in sentence and f"; {kind} are rated by --rater " in sentence


@pytest.mark.parametrize("command", TYPED)
def test_how_a_file_is_read_is_not_asked_of_a_book(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = [word for word in said(COMMANDS[command], "matches") if word not in ("--results", "matches.csv")]
    for name, value in {"--column": "home=one", "--lineups": "k.csv"}.items():
        assert f"{name} says how a file is read" in one_sentence(kinelo(*words, "--book", "none.db", name, value))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["preview", "fair"])
def test_a_match_is_not_asked_of_contests_nor_a_contest_of_matches(command, kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    typed, form = {"matches": ("Ann; Bob; Cid", "'HOME - AWAY'"), "contests": ("Ann - Bob", "'ANN; BOB; CID'")}[kind]
    asked = [typed if word == "{typed}" else word for word in COMMANDS[command]]
    done = kinelo(*said((*asked, "--column", "{first}=one"), kind))
    assert f"{kind}.csv holds {kind}" in one_sentence(done) and f"ask about {form}" in done.stderr


def test_what_is_of_matches_or_of_somebody_is_refused_of_what_is_typed():
    for form, name, value, missing in [
        (["--preview"], "--home-lineup", "Ann", "--home-lineup"),
        (["--preview"], "--away-lineup", "Bob", "--away-lineup"),
        (["--fair", "stones"], "--condition", "surface=clay", "value of surface"),
    ]:  # fmt: skip
        words = ("predict", *form, "--match", "Ann; Bob; Cid", "--book", "none.db", name, value)
        assert f"'Ann; Bob; Cid' is a contest, for which there is no {missing}" in one_sentence(kinelo(*words))
    words = ("predict", "--preview", "--match", "Ann - Bob", "--book", "none.db", "--of", "Ann")
    assert "--of asks about places" in one_sentence(kinelo(*words))
    assert "give --of NAME" in one_sentence(kinelo("why", "r7", "--book", "none.db", "--last", "3"))


def test_aliases_reach_whom_a_preview_is_about(folder, monkeypatch):
    monkeypatch.chdir(folder)
    Obedient.asked.clear()
    words = said((*COMMANDS["preview"], *RATED_BY, "--column", "{first}=one"), "contests")
    done = kinelo(*words, "--json", "--of", "Anne", "--of", "Cid")
    assert done.returncode == 0, done.stderr
    assert Obedient.asked[0]["typed"][1]["of"] == ["Ann", "Cid"]


AUDITED = {name: OF_BOTH[name] for name in ("--column", "--start", "--json", "--since")} | PLAIN_ELO
NOT_AUDITED = {
    "contests": {
        "--lineups": REFUSED["--lineups"],
        **{
            name: (value, f"for which there is no {name}")
            for name, value in {
                "--home-advantage": "40", "--ratings": "start.csv", "--by": "surface",
                "--reference": "clay",
            }.items()
        },
        "--condition": ("surface", "Plain Elo uses no --condition"),
        "--covariate": ("handicap", "Plain Elo uses no --covariate"),
    },
    "matches": {
        "--condition": ("surface", "takes no --condition"),
        "--noise-by": ("format", "takes no --noise-by"),
        "--covariate": ("handicap", "takes no --covariate"),
    },
}  # fmt: skip
AUDITED_ELSEWHERE = {
    "--farming",
    "--watch",
    "--judges",
    "--false-share",
    "--changeover",
    "--to",
    "--threshold",
    "--top",
    "--out",
    "--title",
    "--picture",
    "--k-of",
    "--k-first",
    "--k-halfway",
    "--rules",
    "--rater",
    "--help",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_an_audit_is_taken_or_refused(kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    own = {"contests": {"--noise-by": "format"}}
    own["matches"] = {"--home-advantage": "40", "--ratings": "start.csv", "--by": "surface", "--reference": "clay"}
    taken = AUDITED | own[kind]
    known = {*taken, *NOT_AUDITED[kind], *AUDITED_ELSEWHERE, "--lineups"}
    assert sorted({*options_of("audit")} - known) == []
    asked, found = {}, types.SimpleNamespace(to_dict=lambda: {"k": 24})

    def run(played, rater, **more):
        asked.update(played=played, rater=rater, **more)
        return found

    monkeypatch.setattr("kinelo.advice.audit.audit.audit", run)
    words = [word for pair in taken.items() for word in pair]
    done = kinelo(*said(("audit", "{kind}.csv", *words), kind))
    assert done.returncode == 0 and '"k": 24' in done.stdout, done.stderr
    played, rater = asked["played"], asked["rater"]
    assert played.kind.noun == kind and set(played.present) == {"Ann", "Bob", "Cid", "Dee"}
    assert (rater.k, rater.initial, str(rater.start)) == (24.0, 1200.0, "start.csv") and len(played) == 7
    if kind == "matches":
        assert (rater.home_advantage, str(asked["ratings"])) == (40.0, "start.csv")
        assert (asked["by"], asked["reference"]) == ("surface", "clay")
    else:
        assert "format" in set(played.kinds)
        used = ("--condition", "surface", "--covariate", "handicap")  # refused of plain Elo alone
        done = kinelo("audit", "contests.csv", "--column", "entrant=one", *RATED_BY, *used, "--json")
        assert done.returncode == 0 and asked["rater"].covariates == ["handicap"], done.stderr
    done = kinelo(*said(("audit", "{kind}.csv", "--column", "{first}=one", "--title", "Our league"), kind))
    assert "--title is the heading of a page: give --out too." in one_sentence(done)
    for name, (value, sentence) in NOT_AUDITED[kind].items():
        done = kinelo(*said(("audit", "{kind}.csv", "--column", "{first}=one", name, value), kind))
        assert sentence in one_sentence(done), name


def test_contests_among_files_of_matches_are_named(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for files in (("contests.csv", "matches.csv"), ("matches.csv", "contests.csv")):
        done = kinelo("season", *files)
        assert "contests.csv holds contests of many entrants, and this command" in one_sentence(done)
