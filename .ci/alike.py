"""What the tests leave out on the rig's Windows, each with its reason; a plugin of pytest, named by `.ci/windows`.

Linux runs every case of every test. Windows runs what a system can change something in: files, paths, encodings,
programs, sockets, the registry, Qt. There is no other list of what is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Folders, files and tests; the first two run where the call names them.
SOURCE, RECKONED, PAINTED = "reads the source", "reckons, without any file or program", "painted by Qt from figures"
OFFERED = "what a page offers on other answers; tests/windows/test_wizard.py walks through all of them"
SAID = "what is said of a computer or a run that is told by a file"
# Of the window Windows opens every page (main/test_pages.py) and runs all that asks for files, programs, threads,
# keyboard and room; what stands on the pages is the same figures in the same painter.
LEFT_OUT = {
    "tests/advise": RECKONED,
    "tests/bench/test_compare.py": RECKONED,
    "tests/bench/test_job.py": "what a run's figures say; test_trouble.py beside it starts the same program",
    "tests/bench/test_summary.py": RECKONED,
    "tests/catalog": RECKONED,
    "tests/cli/test_room.py": RECKONED,
    "tests/cli/test_show.py": RECKONED,
    "tests/cli/test_show_bench.py": SAID,
    "tests/gui/bench/test_large.py": PAINTED,
    "tests/gui/bench/test_result.py": PAINTED,
    "tests/gui/bench/test_scores.py": PAINTED,
    "tests/gui/components/test_displays.py": PAINTED,
    "tests/gui/components/test_icons.py": PAINTED,
    "tests/gui/components/test_shape.py": PAINTED,
    "tests/gui/components/test_theme.py": PAINTED,
    "tests/gui/main/test_verdict.py": PAINTED,
    "tests/gui/monitor/test_clock.py": PAINTED,
    "tests/gui/monitor/test_inside.py": PAINTED,
    "tests/gui/monitor/test_marks.py": PAINTED,
    "tests/gui/monitor/test_monitor_page.py": PAINTED,
    "tests/gui/monitor/test_more.py": PAINTED,
    "tests/gui/monitor/test_plot.py": PAINTED,
    "tests/gui/monitor/test_series.py": PAINTED,
    "tests/gui/monitor/test_several.py": PAINTED,
    "tests/gui/test_no_opengl.py": "the tour of the shipped program (.ci/windows-setup) says what it loads",
    "tests/gui/test_window_words.py": SOURCE,
    "tests/gui/wizard/test_done_page.py": OFFERED,
    "tests/gui/wizard/test_findings.py": PAINTED,
    "tests/gui/wizard/test_made_by.py": OFFERED,
    "tests/gui/wizard/test_picks.py": OFFERED,
    "tests/gui/wizard/test_plan_list.py": PAINTED,
    "tests/gui/wizard/test_recommendation_page.py": OFFERED,
    "tests/gui/wizard/test_rows_and_cards.py": PAINTED,
    "tests/gui/wizard/test_said_of_parts.py": PAINTED,
    "tests/gui/wizard/test_said_once.py": PAINTED,
    "tests/gui/wizard/test_same_price.py": PAINTED,
    "tests/gui/wizard/test_terms.py": PAINTED,
    "tests/gui/wizard/test_toolkit_way.py": OFFERED,
    "tests/gui/wizard/test_wishes.py": OFFERED,
    "tests/gui/wizard/test_wizard_progress.py": PAINTED,
    "tests/health/test_curves.py": RECKONED,
    "tests/health/test_minder.py": RECKONED,
    "tests/health/test_past.py": RECKONED,
    "tests/health/test_rules.py": RECKONED,
    "tests/health/test_sick_cards.py": "what a test says of a card; test_job.py beside it starts the same program",
    "tests/health/test_watch.py": RECKONED,
    "tests/install/driver/test_choice.py": RECKONED,
    "tests/install/driver/test_left_in_place.py": SAID,
    "tests/install/driver/test_left_to_a_person.py": "what Linux' distributions are told",
    "tests/install/test_conda_plan.py": RECKONED,
    "tests/install/test_goals.py": RECKONED,
    "tests/install/test_mirrors.py": RECKONED,
    "tests/install/test_outlook.py": "what is told before it happens; the tests of what happens are beside it",
    "tests/install/test_pace.py": "the sockets are those of tests/fetch",
    "tests/install/test_plan_fuzz.py": RECKONED,
    "tests/install/test_planner.py": RECKONED,
    "tests/install/test_prices.py": "the sockets are those of tests/fetch",
    "tests/install/test_real_torch.py": "one more real install; test_road.py asks its environment the same",
    "tests/install/test_retold.py": SAID,
    "tests/install/test_tensorflow.py": "the same install with another list of packages",
    "tests/install/test_wish.py": "the same install with another list of packages",
    "tests/install/test_wsl2.py": SAID,
    "tests/install/test_wsl2_install.py": SAID,
    "tests/installers/test_icon.py": SOURCE,
    "tests/installers/test_workflows.py": SOURCE,
    "tests/nvml/test_sick.py::test_a_card_that_does_not_fall_asleep_is_seen_again": "minutes of looks into Linux' /sys",
    "tests/nvml/test_sick.py::test_an_idle_laptop_is_let_go_of_and_falls_asleep": "an hour of looks into Linux' /sys",
    "tests/test_layering.py": SOURCE,
    "tests/test_texts.py": "reads the sentences; Windows in Chinese reads them, too",
    "tests/windows/test_real_road.py": "for real PCs, whose registry test_road.py would change; that does more",
}

# Of these files Windows runs the tests named here: what it may do otherwise (folders that move, files that somebody
# holds or that are locked, programs that are killed). The others start the same programs or make the same
# environments, half a minute of Wine each, and judge what was chosen, said or written down.
ENOUGH = {
    "tests/cli/test_conda.py": ("test_a_plan_says_what_conda_does",),
    "tests/cli/test_download.py": (
        "test_events_and_figures",
        "test_a_stopped_download_goes_on",
        "test_a_file_of_the_users_is_not_replaced",
    ),
    "tests/cli/test_uninstall.py": ("test_nothing_stays",),
    "tests/cli/test_use.py": ("test_how_an_environment_is_used", "test_what_was_removed_cannot_be_used"),
    "tests/gui/monitor/test_saving.py": (
        "test_plots_are_saved_as_a_picture",
        "test_figures_are_saved_as_a_table",
        "test_what_cannot_be_saved_is_said",
    ),
    "tests/install/test_after.py": (
        "test_a_menu_entry_is_made_once_and_taken_back",
        "test_the_editor_gets_the_interpreter_and_keeps_its_settings",
        "test_jupyter_learns_of_it_where_its_kernel_is_there",
    ),
    "tests/install/test_bundle.py": (
        "test_what_a_plan_needs_is_gathered_and_listed",
        "test_a_stopped_one_goes_on_and_fetches_nothing_twice",
        "test_a_folder_with_other_things_is_left_alone",
    ),
    "tests/install/test_bundle_checked.py": (
        "test_a_check_names_what_is_not_on_the_list",
        "test_changed_bytes_are_found_before_they_are_used",
        "test_a_list_with_a_path_that_leads_elsewhere_is_refused",
        "test_a_list_with_one_name_twice_or_without_a_lock_is_refused",
    ),
    "tests/install/test_bundle_used.py": ("test_it_installs_where_no_network_answers",),
    "tests/install/test_conda.py": (
        "test_from_nothing_to_an_environment_of_condas",
        "test_a_shell_gets_in_as_into_any_environment",
        "test_it_goes_whole_and_leaves_what_the_user_added",
    ),
    # Killed, gone on with and taken back it is on the whole road, with the real PyTorch: test_road.py.
    "tests/install/test_cudnn.py": (
        "test_among_the_files_of_the_toolkit",
        "test_a_file_of_somebody_else_is_not_touched",
        "test_damage_is_seen_and_repaired",
    ),
    "tests/install/test_farewell.py": (
        "test_environments_stay_and_go_on_working",
        "test_everything_goes",
        "test_files_of_others_in_folders_of_our_names_stay",
    ),
    "tests/install/test_install.py": (
        "test_from_nothing_to_an_environment",
        "test_the_same_again_does_nothing_but_prove",
        "test_a_wheelhouse_that_has_everything_needs_no_index",
        "test_what_a_stopped_uv_was_unpacking_goes",
    ),
    "tests/install/test_moved_aside.py": (
        "test_it_moves_aside_and_goes_back_with_the_removal",
        "test_a_run_that_was_killed_after_the_move_goes_on",
    ),
    "tests/install/test_package_list.py": ("test_the_list_stays_and_is_named_before_and_after",),
    "tests/install/test_refusals.py": (
        "test_a_folder_that_is_not_ours_is_left_alone",
        "test_a_partial_folder_that_is_not_ours_is_left_alone",
        "test_a_file_that_breaks_off_for_good_is_taken_up_by_the_next_run",
        "test_cancel_while_a_download_stalls_and_go_on",
        "test_cancel_at_every_step",
        "test_a_second_copy_is_told_who_is_at_it",
        "test_a_file_where_a_folder_should_be",
        "test_a_folder_that_cannot_be_written",
        "test_a_data_folder_that_cannot_be_written",
        "test_a_disk_that_fills_up_while_packages_are_installed",
        "test_a_plan_whose_folder_has_a_nul",
        "test_an_environment_among_what_we_keep_ourselves",
    ),
    "tests/install/test_repair.py": (
        "test_a_damaged_one_is_made_anew_and_what_was_added_is_in_it",
        "test_the_damaged_one_stays_where_the_new_one_does_not_pass",
        "test_a_kill_at_any_move_loses_nothing",
    ),
    "tests/install/test_restart.py": (
        "test_what_was_built_before_the_restart_is_only_proven",
        "test_what_a_kill_left_is_built_again",
    ),
    "tests/install/test_strangers.py": (
        "test_packages_of_the_user_go_and_are_named_before_and_after",
        "test_files_of_the_user_stay_and_are_named_before_and_after",
        "test_a_removal_that_was_killed_goes_on_with_the_same_result",
    ),
    "tests/install/test_uninstall.py": (
        "test_it_is_gone_and_can_be_made_again",
        "test_a_folder_that_is_not_ours_stays",
        "test_a_removal_that_was_killed_is_finished",
        "test_not_while_an_install_runs",
        "test_what_a_stopped_install_left_is_removed",
    ),
}

# Of a test's many cases the first, the last and one between: what the system changes, it changes in each of them.
CASES = 3

# But every case where the case itself is what systems differ in.
EVERY_CASE = {
    "tests/windows/*": "Windows' own",
    "tests/system/*": "what this system says of itself",
    "tests/detect/*": "programs and folders as they lie about",
    "tests/fetch/*": "files and sockets",
    "tests/nvml/*": "a library of this system",
    "tests/install/door/*": "attacks on what runs with administrator's rights",
    "tests/install/test_archives.py": "names of files that lead out",
    "tests/install/test_bundle*.py": "names of files that lead out",
    "tests/install/test_plan_files.py": "names of folders",
    "tests/install/test_variables.py": "what Windows keeps in its registry",
    "tests/install/test_*kills.py": "where the power fails",
    "tests/install/test_power_cuts.py": "where the power fails",
}

# A page in both languages: Chinese, whose fonts and widths are the system's; English is the same page on Linux.
ONE_LANGUAGE = "tests/gui/*"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out whole files and folders."""
    path = collection_path.relative_to(ROOT).as_posix() if collection_path.is_relative_to(ROOT) else ""
    named = [word.replace("\\", "/").rstrip("/") for word in config.args]
    return True if path in LEFT_OUT and path not in named else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases."""
    there = {item.nodeid for item in items}
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        twin = re.sub(r"(?<=[\[-])en(?=[\]-])", "zh_CN", item.nodeid)
        if twin == item.nodeid or twin not in there or not fnmatch(item.nodeid, ONE_LANGUAGE):
            tests[item.nodeid.partition("[")[0]].append(item)
    kept = {case.nodeid for name, cases in tests.items() for case in some(name, cases)}
    left_out = [item for item in items if item.nodeid not in kept]
    items[:] = [item for item in items if item.nodeid in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def some(name: str, cases: list[pytest.Item]) -> list[pytest.Item]:
    """Of one test's cases those that Windows runs."""
    file, *_, test = name.split("::")
    if f"{file}::{test}" in LEFT_OUT or test not in ENOUGH.get(file, (test,)):
        return []
    every = any(fnmatch(file, each) for each in EVERY_CASE)
    if every or len(cases) <= CASES or cases[0].get_closest_marker("windows"):
        return cases
    return [cases[round(n * (len(cases) - 1) / (CASES - 1))] for n in range(CASES)]
