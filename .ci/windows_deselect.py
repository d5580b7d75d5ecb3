"""Deselects tests on the rig's Windows, each with its reason; a pytest plugin that `.ci/windows` loads. As a program it
prints pytest's arguments for another Linux, where the tests are left out whose reason holds there, too.

Linux runs every case of every test. Windows runs those whose result depends on the system: files, paths, encodings,
programs, sockets, the registry, Qt. There is no other list of deselected tests. An entry that matches no test is an
error: tests/test_windows_deselect.py, and pytest with this plugin does not start.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

READS_SOURCE = "reads the source"
PURE_LOGIC = "computes, without any file or program"
PAINTED = "painted by Qt from given data"
PAGE_CHOICES = "what a page offers for other choices; tests/windows/test_wizard.py walks through all of them"
TEXTS = "texts about a computer or a run that is read from a file"
SAME_PROGRAM = "texts of results; a test beside it starts the same program"
SAME_SOCKETS = "the same sockets as in tests/fetch"
SAME_INSTALL = "the same install with another list of packages"
# These hold on another Linux, too; what is painted depends on its fonts.
ALSO_ON_LINUX = (READS_SOURCE, PURE_LOGIC, TEXTS, SAME_PROGRAM, SAME_SOCKETS, SAME_INSTALL)
# Folders, files and tests; folders and files still run if the command line names them.
# Of the window, Windows opens every page (gui/main/test_window.py) and runs everything that needs files, programs,
# threads, the keyboard and the layout; the contents of the pages are the same data in the same painter.
EXCLUDED = {
    "tests/advise": PURE_LOGIC,
    "tests/bench/test_comparison.py": PURE_LOGIC,
    "tests/bench/test_job.py": SAME_PROGRAM,
    "tests/bench/test_summary.py": PURE_LOGIC,
    "tests/catalog": PURE_LOGIC,
    "tests/cli/test_disk_space.py": PURE_LOGIC,
    "tests/cli/render/test_setup.py": PURE_LOGIC,
    "tests/cli/render/test_benchmark.py": TEXTS,
    "tests/install/jobs/test_amd_index.py": "under Wine uv builds nothing from source; open",
    "tests/gui/bench/memory_fit": PAINTED,
    "tests/gui/bench/result": PAINTED,
    "tests/gui/bench/test_messages.py": PAINTED,
    "tests/gui/widgets/test_cards.py": PAINTED,
    "tests/gui/widgets/test_charts.py": PAINTED,
    "tests/gui/widgets/test_icons.py": PAINTED,
    "tests/gui/widgets/test_progress.py": PAINTED,
    "tests/gui/theme/test_theme.py": PAINTED,
    "tests/gui/main/home/test_home_verdict.py": PAINTED,
    "tests/gui/monitor/plot/test_annotations.py": PAINTED,
    "tests/gui/monitor/plot/test_curves.py": PAINTED,
    "tests/gui/monitor/plot/test_opengl.py": "the tour of the installed program (.ci/windows-setup) checks it",
    "tests/gui/monitor/plot/test_overlay.py": PAINTED,
    "tests/gui/monitor/plot/test_plot.py": PAINTED,
    "tests/gui/monitor/plot/test_renderer.py": PAINTED,
    "tests/gui/monitor/plot/test_time_axis.py": PAINTED,
    "tests/gui/monitor/test_page.py": PAINTED,
    "tests/gui/monitor/test_page_layout.py": PAINTED,
    "tests/gui/monitor/test_alarms.py": PAINTED,
    "tests/gui/monitor/test_gpu_table.py": PAINTED,
    "tests/gui/monitor/test_tables.py": PAINTED,
    "tests/gui/monitor/test_toolbar.py": PAINTED,
    "tests/gui/test_translations.py": READS_SOURCE,
    "tests/gui/wizard/pages/test_done_page.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/test_computer_page.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/test_machine_notes.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_environment_kind.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/recommendation/test_version_pickers.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/recommendation/test_plan_view.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_recommendation_page.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/test_machine_summary.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_part_summary.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_version_entries.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_cost_card.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_terms.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_toolkit_method.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/recommendation/test_options_bar.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/recommendation/test_smaller_choice.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/recommendation/test_source_check.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/recommendation/test_way_cards.py": PAGE_CHOICES,
    "tests/gui/wizard/pages/install/test_install_layout.py": PAINTED,
    "tests/gui/wizard/pages/install/test_install_progress.py": PAINTED,
    "tests/health/test_curves.py": PURE_LOGIC,
    "tests/health/test_safety.py": PURE_LOGIC,
    "tests/health/test_baselines.py": PURE_LOGIC,
    "tests/health/test_rules.py": PURE_LOGIC,
    "tests/health/test_faulty_gpus.py": SAME_PROGRAM,
    "tests/health/test_monitor.py": PURE_LOGIC,
    "tests/install/steps/test_driver_packages.py": PURE_LOGIC,
    "tests/install/steps/test_uninstall_notices.py": TEXTS,
    "tests/install/steps/test_manual_driver.py": TEXTS,
    "tests/install/steps/test_conda_plan.py": PURE_LOGIC,
    "tests/install/plan/test_goals.py": PURE_LOGIC,
    "tests/install/steps/test_mirrors.py": PURE_LOGIC,
    "tests/install/plan/test_preview.py": TEXTS,
    "tests/install/steps/test_rate_limit.py": SAME_SOCKETS,
    "tests/install/plan/test_validation.py": PURE_LOGIC,
    "tests/install/plan/test_planner.py": PURE_LOGIC,
    "tests/install/jobs/test_size_probe.py": SAME_SOCKETS,
    "tests/install/jobs/test_real_torch.py": "one more real install; test_end_to_end.py checks the same",
    "tests/install/plan/test_replanning.py": TEXTS,
    "tests/install/packages/test_tensorflow.py": SAME_INSTALL,
    "tests/install/packages/test_requirements.py": SAME_INSTALL,
    "tests/install/steps/test_wsl2_plan.py": TEXTS,
    "tests/install/steps/test_wsl2.py": TEXTS,
    "tests/installers/test_icon.py": READS_SOURCE,
    "tests/installers/test_workflows.py": READS_SOURCE,
    "tests/nvml/test_driver_faults.py::test_gpu_that_stays_awake_is_sampled_again": "reads Linux' /sys",
    "tests/nvml/test_driver_faults.py::test_idle_laptop_gpu_is_released_and_sleeps": "reads Linux' /sys",
    "tests/test_benchmarks.py": READS_SOURCE,
    "tests/test_ci_failures.py": "what .ci/run says, on Linux",
    "tests/test_docstrings.py": READS_SOURCE,
    "tests/test_layering.py": READS_SOURCE,
    "tests/texts/test_texts.py": "reads the texts; the portion `china` runs it on a Chinese Windows",
    "tests/texts/test_percent.py": READS_SOURCE,
    "tests/texts/test_words.py": READS_SOURCE,
    "tests/system/linux/test_parsing.py": PURE_LOGIC,
    "tests/test_windows_deselect.py": READS_SOURCE,
    "tests/windows/test_real_install.py": "for real PCs, whose registry test_end_to_end.py would change",
}

# Of these files only the tests named here run on Windows: those in which it may differ (renamed folders, files that are
# open or locked, killed programs). The others start the same programs or create the same environments, half a minute
# of Wine each, and check choices, texts and records.
SELECTED = {
    "tests/cli/test_conda.py": ("test_a_plan_says_what_conda_does",),
    "tests/cli/test_download.py": (
        "test_events_and_figures",
        "test_stopped_download_resumes",
        "test_existing_user_file_is_kept",
    ),
    "tests/cli/test_uninstall.py": ("test_everything_is_removed",),
    "tests/cli/test_use.py": ("test_use_prints_activation", "test_removed_environment_is_refused"),
    # The pages of the window: what a page shows for other data is the same data in the same painter, and the wizard's
    # walk (tests/windows/test_wizard.py) and the tour of the installed program meet all of them.
    "tests/gui/bench/test_page.py": (
        "test_benchmark_run_shows_result",
        "test_cancel_stops_benchmark",
        "test_saved_report_is_opened_by_the_button_beside_it",
        "test_unreadable_results_are_counted",
        "test_result_is_saved_as_picture_or_report",
        "test_action_buttons_fit_page_width",
    ),
    "tests/gui/bundle/test_create.py": (
        "test_primary_button_asks_for_the_folder_first",
        "test_saved_machine_file_can_be_read",
        "test_download_is_paused_limited_and_resumed",
        "test_creation_is_stopped_after_confirmation_and_resumed",
        "test_dialogs_ask_for_right_kind_and_use_the_answer",
    ),
    "tests/gui/examples/test_dialog.py": (
        "test_figures_and_pictures_are_shown_while_it_runs",
        "test_stop_ends_it_and_says_so",
        "test_picture_sorter_asks_for_a_folder_first",
        "test_saved_copy_has_the_language_of_the_window",
    ),
    "tests/gui/health/test_health_page.py": (
        "test_health_test_and_benchmark_switch_each_other_off",
        "test_cancel_keeps_finished_checks",
        "test_closing_the_window_asks_first_while_a_test_runs",
        "test_gpu_curves_are_drawn",
        "test_real_job_runs_without_environment",
    ),
    "tests/gui/main/settings/test_settings_cards.py": (
        "test_a_running_test_is_cancelled_by_the_same_button",
        "test_a_folder_is_opened",
        "test_one_that_is_not_there_yet_opens_the_one_above_it",
        "test_a_folder_that_cannot_be_used_changes_nothing_and_says_why",
        "test_start_with_the_computer_is_asked_and_set",
        "test_a_system_that_refuses_is_named",
        "test_they_go_to_the_chosen_folder_and_back",
        "test_cancel_ends_it_and_says_that_nothing_moved",
        "test_a_move_that_was_cut_off_is_finished_and_said",
        "test_a_missing_disk_is_named",
        "test_after_the_removal_nothing_is_written_and_the_window_closes",
        "test_a_removal_that_failed_keeps_the_window_and_says_so",
    ),
    "tests/gui/main/home/test_home_overview.py": (
        "test_environment_gets_another_name_and_its_folder_stays",
        "test_exported_package_list_is_named_and_opened",
        "test_environment_that_is_measured_is_removed_after_the_benchmark_stopped",
        "test_second_terminal_is_not_asked_for_while_the_first_one_opens",
    ),
    "tests/gui/main/test_bundle_pages.py": (
        "test_settings_open_load_bundle",
        "test_intact_bundle_continues_the_setup",
        "test_task_bar_shows_bundle_progress",
    ),
    "tests/gui/main/test_updates.py": (
        "test_download_shows_progress_and_can_be_cancelled",
        "test_file_changed_after_download_is_not_started",
        "test_installer_start_error_is_shown",
        "test_archive_is_shown_in_its_folder",
        "test_closing_window_ends_running_check",
        "test_check_runs_in_its_own_thread",
    ),
    "tests/gui/test_help.py": (
        "test_f1_opens_topic_of_wizard_page",
        "test_picture_is_as_wide_as_the_page_and_of_the_language",
        "test_page_loads_nothing_from_elsewhere",
        "test_every_heading_of_a_link_is_found",
        "test_folder_that_is_not_there_yet_is_shown_by_the_nearest_above",
        "test_folder_that_cannot_be_opened_is_said",
        "test_buttons_open_folders_and_the_part_about_reports",
    ),
    "tests/gui/wizard/pages/install/test_install_page.py": (
        "test_download_is_paused_and_resumed",
        "test_cancel_asks_first_and_can_be_declined",
        "test_cancelled_install_can_be_resumed",
        "test_failed_install_shows_reason_and_can_be_retried",
        "test_occupied_folder_offers_another_folder",
        "test_driver_is_installed_while_the_rest_downloads",
    ),
    "tests/gui/wizard/test_wizard_layout.py": (
        "test_text_at_200_percent_is_not_cut",
        "test_smallest_window_at_200_percent_never_scrolls_sideways",
    ),
    "tests/gui/monitor/test_export.py": (
        "test_plots_are_saved_as_a_picture",
        "test_figures_are_saved_as_a_table",
        "test_save_error_is_shown",
    ),
    "tests/install/environment/test_integrations.py": (
        "test_menu_entry_is_created_once_and_removed",
        "test_editor_job_sets_interpreter_and_keeps_settings",
        "test_kernel_is_registered_if_ipykernel_is_installed",
    ),
    # The other eight install and add the same two packages, ten seconds of CPU each.
    "tests/install/jobs/test_add_packages.py": (
        "test_packages_are_added_beside_what_is_there_and_exactly_they_are_removed",
        "test_next_run_completes_one_that_was_killed",
    ),
    "tests/install/jobs/test_create_bundle.py": (
        "test_bundle_holds_and_lists_all_files_of_plan",
        "test_stopped_bundle_resumes_without_refetching",
        "test_folder_with_foreign_files_is_refused",
    ),
    "tests/install/bundle/test_format.py": (
        "test_check_names_unlisted_files",
        "test_modified_file_is_found_before_use",
        "test_list_with_outside_path_is_refused",
        "test_list_with_duplicate_or_without_lock_is_refused",
    ),
    "tests/install/bundle/test_source.py": ("test_bundle_installs_without_network",),
    "tests/install/steps/test_conda_environment.py": (
        "test_conda_environment_is_installed",
        "test_conda_environment_can_be_activated",
        "test_uninstall_keeps_user_files",
    ),
    # Kill, resume and uninstall: jobs/test_end_to_end.py, with the real PyTorch.
    "tests/install/steps/test_cudnn.py": (
        "test_cudnn_is_merged_into_toolkit",
        "test_foreign_file_is_not_overwritten",
        "test_damaged_cudnn_is_repaired",
    ),
    "tests/install/jobs/test_purge.py": (
        "test_kept_environments_still_work",
        "test_purge_removes_everything",
        "test_foreign_files_in_app_folders_are_kept",
    ),
    "tests/install/jobs/test_install.py": (
        "test_fresh_install_creates_environment",
        "test_second_install_only_verifies",
        "test_complete_wheelhouse_needs_no_index",
        "test_temporary_files_of_stopped_uv_are_removed",
    ),
    "tests/install/steps/test_leftovers.py": (
        "test_leftovers_move_aside_and_return_on_uninstall",
        "test_kill_after_move_is_recovered",
    ),
    "tests/install/files/test_user_packages.py": ("test_list_is_kept_and_named_in_preview_and_result",),
    "tests/install/jobs/test_install_errors.py": (
        "test_foreign_folder_is_refused",
        "test_foreign_partial_folder_is_refused",
        "test_aborted_download_is_resumed_by_next_run",
        "test_cancel_during_stalled_download_then_resume",
        "test_cancel_at_every_step",
        "test_second_process_is_told_the_first_is_running",
        "test_file_in_place_of_folder_is_refused",
        "test_unwritable_folder_is_refused",
        "test_unwritable_data_folder_is_refused",
        "test_disk_full_during_install_is_reported",
        "test_plan_with_nul_in_folder_is_refused",
        "test_environment_in_app_data_is_refused",
    ),
    "tests/install/jobs/test_repair.py": (
        "test_damaged_environment_is_rebuilt_with_user_files",
        "test_damaged_environment_stays_if_new_one_fails",
        "test_kill_at_each_rename_loses_nothing",
    ),
    "tests/install/jobs/test_restart.py": (
        "test_environment_built_before_restart_is_only_verified",
        "test_environment_left_by_kill_is_rebuilt",
    ),
    "tests/install/files/test_foreign_files.py": (
        "test_user_packages_are_removed_and_named",
        "test_user_files_are_kept_and_named",
        "test_killed_removal_resumes_with_same_result",
    ),
    "tests/install/jobs/test_uninstall.py": (
        "test_environment_is_removed_and_can_be_reinstalled",
        "test_foreign_folder_is_refused",
        "test_killed_removal_is_finished",
        "test_uninstall_is_refused_during_install",
        "test_leftovers_of_stopped_install_are_removed",
    ),
    # Each asks uv six times; what it answers is read by the same code.
    "tests/refresh/test_package_index.py": (
        "test_new_releases_of_the_index_come_into_the_catalog",
        "test_mirror_answers_for_a_silent_index",
        "test_refused_connection_is_unreachable",
    ),
}

# Of a parametrized test the first case, the last and one between: the system changes either all of them or none.
MAX_CASES = 3

# Files in which the cases themselves are what differs between systems: all of them run.
ALL_CASES = {
    "tests/windows/*": "Windows only",
    "tests/system/*": "properties of this system",
    "tests/detect/*": "programs and folders of this system",
    "tests/core/test_filesystem.py": "files that are open elsewhere",
    "tests/fetch/*": "files and sockets",
    "tests/nvml/*": "a library of this system",
    "tests/install/elevation/*": "attacks on what runs with administrator rights",
    "tests/install/files/test_archives.py": "file names that lead out of the folder",
    "tests/install/bundle/test_format.py": "file names that lead out of the folder",
    "tests/install/bundle/test_exchanged_files.py": "files that are open elsewhere",
    "tests/install/jobs/test_create_bundle.py": "file names that lead out of the folder",
    "tests/install/plan/test_plan_files.py": "names of folders",
    "tests/install/steps/test_environment_variables.py": "the registry",
    "tests/install/*/test_*kills.py": "moments of a power cut",
    "tests/install/journal/test_power_cuts.py": "moments of a power cut",
}

# Each case of these is a whole install, or starts uv as one does, and only the password differs: one runs.
ONE_CASE = (
    "tests/install/packages/test_private_index.py::test_downloads_of_an_index_with_password_have_it_and_no_file_does",
    "tests/install/packages/test_private_index.py::test_index_that_fails_is_named_without_its_password",
)

# Tests in both languages run in Chinese, whose fonts and widths are the system's; English is the same as on Linux.
ONE_LANGUAGE = "tests/gui/*"


def unmatched_entries(
    *, excluded: Iterable[str], selected: Mapping[str, Iterable[str]], patterns: Iterable[str]
) -> list[str]:
    """The entries that match no folder, file or test."""
    tests = [(file, test) for file, names in selected.items() for test in names]
    tests += [(file, test) for file, _, test in (entry.partition("::") for entry in excluded)]
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    wrong = [f"{file}::{test}".removesuffix("::") for file, test in tests if not exists(ROOT / file, test)]
    return wrong + [pattern for pattern in patterns if not any(fnmatch(file, pattern) for file in files)]


def exists(path: Path, test: str) -> bool:
    """Whether a folder or file exists and, unless `test` is empty, defines this test."""
    if not test:
        return path.exists()
    return path.is_file() and test in defined_functions(path)


@cache
def defined_functions(path: Path) -> frozenset[str]:
    """The names of a file's functions and methods."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def pytest_configure() -> None:
    """Refuse to start with an entry that matches nothing."""
    if wrong := unmatched_entries(excluded=[*EXCLUDED, *ONE_CASE], selected=SELECTED, patterns=ALL_CASES):
        raise pytest.UsageError(f"windows_deselect.py: no such test: {', '.join(wrong)}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out whole files and folders."""
    path = collection_path.relative_to(ROOT).as_posix() if collection_path.is_relative_to(ROOT) else ""
    named = [argument.replace("\\", "/").rstrip("/") for argument in config.args]
    return True if path in EXCLUDED and path not in named else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect single tests and cases."""
    node_ids = {item.nodeid for item in items}
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        twin = re.sub(r"(?<=[\[-])en(?=[\]-])", "zh_CN", item.nodeid)
        if twin == item.nodeid or twin not in node_ids or not fnmatch(item.nodeid, ONE_LANGUAGE):
            tests[item.nodeid.partition("[")[0]].append(item)
    selected = {case.nodeid for name, cases in tests.items() for case in select_cases(name, cases)}
    deselected = [item for item in items if item.nodeid not in selected]
    items[:] = [item for item in items if item.nodeid in selected]
    if deselected:
        config.hook.pytest_deselected(items=deselected)


def select_cases(name: str, cases: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of one test that run on Windows."""
    file, *_, test = name.split("::")
    if f"{file}::{test}" in EXCLUDED or test not in SELECTED.get(file, (test,)):
        return []
    if f"{file}::{test}" in ONE_CASE:
        return cases[:1]
    every = any(fnmatch(file, pattern) for pattern in ALL_CASES)
    if every or len(cases) <= MAX_CASES or cases[0].get_closest_marker("windows"):
        return cases
    return [cases[round(n * (len(cases) - 1) / (MAX_CASES - 1))] for n in range(MAX_CASES)]


def arguments_on_linux() -> list[str]:
    """What pytest leaves out on another Linux: there, too, a file's other tests start the programs and create the
    environments of those that are selected. The window's run all: they depend on the fonts.
    """
    files = [file for file, reason in EXCLUDED.items() if reason in ALSO_ON_LINUX]
    tests = [
        f"{file}::{test}"
        for file, selected in SELECTED.items()
        if not file.startswith("tests/gui/")
        for test in sorted(defined_functions(ROOT / file) - {*selected})
        # A prefix is deselected: one of a selected test would take that with it.
        if test.startswith("test_") and not any(each.startswith(test) for each in selected)
    ]
    return [*(f"--ignore={file}" for file in files), *(f"--deselect={test}" for test in tests)]


if __name__ == "__main__":
    print(*arguments_on_linux(), sep="\n")
