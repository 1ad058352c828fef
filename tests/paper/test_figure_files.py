import pytest

from kinelo.errors import InputError
from kinelo.paper.catalogue import drawing, figure_names, preparation
from kinelo.paper.figure import read_figures
from kinelo.paper.report import settings_of
from kinelo.paper.reproduce import run_work


@pytest.fixture(scope="module")
def full():
    return {figure.number: figure for figure in read_figures()}


def test_the_papers_six_figures_and_ours_are_there(full):
    assert list(full) == list(range(1, 13))


def test_every_drawing_is_used_and_known(full):
    assert sorted(figure.draw for figure in full.values()) == figure_names()
    for figure in full.values():
        assert callable(drawing(figure.draw)) and callable(preparation(figure.draw, figure.source))


def test_full_scale_is_the_papers(full):
    for name in ("R1", "R2"):
        plan = full[2].studies[name].simulate
        assert (plan.steps, plan.matches_per_step, plan.realisations) == (2_000_000, 25, 50)
        assert full[2].studies[name].strengths.teams == 200
    homogeneous = [*full[4].studies.values(), *(s for n, s in full[6].studies.items() if not n.startswith("early"))]
    for study in homogeneous:
        plan = study.simulate
        assert (plan.steps, plan.matches_per_step, plan.realisations) == (1_000_000, 25, 50)
        assert study.strengths.teams == 500
    assert [s.system.outcome.nu for n, s in full[6].studies.items() if not n.startswith("early")] == [1, 0.1, 0.01]
    assert full[1].parameters["lineups"] == 10_000
    total = sum(run_work(study).matches for figure in full.values() for study in figure.studies.values())
    assert total > 1.5e10


def test_quick_scale_is_small():
    for figure in read_figures(scale="quick"):
        assert sum(run_work(study).matches for study in figure.studies.values()) < 2e8


def test_unknown_figure_numbers_are_refused():
    with pytest.raises(InputError, match=r"There is no figure 13; the figures are 1, 2, .*, 12\."):
        read_figures(wanted=[4, 13])


GOOD = """
figure = 4
title = "t"
draw = "homogeneous_micro"
[study]
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
[[run]]
name = "a"
league = { kind = "homogeneous", sigma = 1.0 }
"""


def write(folder, text, name="figure-04.toml"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("figure = 4", "figure = "), "not valid TOML"),
        (("figure = 4\n", ""), "the key 'figure' is missing"),
        (("title", "titel"), "unknown key 'titel'"),
        (("gamma = 0.05", "gamma = -1.0"), "gamma must be greater than 0"),
        (("sigma = 1.0", "sigmo = 1.0"), "run 'a': unknown key"),
        (('name = "a"', ""), "needs a name of its own"),
    ],
)
def test_a_bad_figure_file_is_one_sentence(tmp_path, change, complaint):
    with pytest.raises(InputError, match=complaint) as refusal:
        read_figures(write(tmp_path, GOOD.replace(*change)))
    assert "figure-04.toml" in str(refusal.value)


def test_an_unknown_drawing_names_those_there_are(tmp_path):
    (figure,) = read_figures(write(tmp_path, GOOD.replace("homogeneous_micro", "pie")))
    with pytest.raises(InputError, match="draw must be one of closures, energy"):
        preparation(figure.draw, figure.source)


def test_two_files_with_one_number_are_refused(tmp_path):
    write(tmp_path, GOOD)
    with pytest.raises(InputError, match="Two figure files have the number 4"):
        read_figures(write(tmp_path, GOOD, "other.toml"))


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no folder"):
        read_figures(tmp_path / "nowhere")


def test_quick_changes_what_runs_share_but_not_what_a_run_says(tmp_path):
    text = GOOD + "gamma = 0.3\n[quick.study]\ngamma = 0.1\noutcome = { nu = 2.0 }\n"
    write(tmp_path, text)
    assert read_figures(tmp_path)[0].studies["a"].gamma == 0.3
    quick = read_figures(tmp_path, "quick")[0].studies["a"]
    assert quick.gamma == 0.3
    assert quick.system.outcome.nu == 2.0


def test_settings_list_every_run(full):
    table = settings_of(full[6])
    assert [row[0] for row in table[1:]] == list(full[6].studies)
    column = table[0].index("outcome.nu")
    assert [row[column] for row in table[1:4]] == ["1", "0.1", "0.01"]
