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
    "tests/bench/test_comparison.py": RECKONED,
    "tests/bench/test_job.py": "what a run's figures say; test_trouble.py beside it starts the same program",
    "tests/bench/test_summary.py": RECKONED,
    "tests/catalog": RECKONED,
    "tests/cli/test_disk_space.py": RECKONED,
    "tests/cli/render/test_setup.py": RECKONED,
    "tests/cli/render/test_benchmark.py": SAID,
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
    "tests/gui/monitor/plot/test_opengl.py": "the tour of the shipped program (.ci/windows-setup) says what it loads",
    "tests/gui/monitor/plot/test_overlay.py": PAINTED,
    "tests/gui/monitor/plot/test_plot.py": PAINTED,
    "tests/gui/monitor/plot/test_renderer.py": PAINTED,
    "tests/gui/monitor/plot/test_time_axis.py": PAINTED,
    "tests/gui/monitor/test_page.py": PAINTED,
    "tests/gui/monitor/test_tables.py": PAINTED,
    "tests/gui/monitor/test_toolbar.py": PAINTED,
    "tests/gui/test_translations.py": SOURCE,
    "tests/gui/wizard/pages/test_done_page.py": OFFERED,
    "tests/gui/wizard/pages/test_machine_notes.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_environment_kind.py": OFFERED,
    "tests/gui/wizard/pages/recommendation/test_version_pickers.py": OFFERED,
    "tests/gui/wizard/pages/recommendation/test_plan_view.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_recommendation_page.py": OFFERED,
    "tests/gui/wizard/pages/test_machine_summary.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_part_summary.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_version_entries.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_cost_card.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_terms.py": PAINTED,
    "tests/gui/wizard/pages/recommendation/test_toolkit_method.py": OFFERED,
    "tests/gui/wizard/pages/recommendation/test_options_bar.py": OFFERED,
    "tests/gui/wizard/pages/install/test_install_progress.py": PAINTED,
    "tests/health/test_curves.py": RECKONED,
    "tests/health/test_safety.py": RECKONED,
    "tests/health/test_baselines.py": RECKONED,
    "tests/health/test_rules.py": RECKONED,
    "tests/health/test_faulty_gpus.py": "what a test says of a card; test_job.py beside it starts the same program",
    "tests/health/test_monitor.py": RECKONED,
    "tests/install/steps/test_driver_packages.py": RECKONED,
    "tests/install/steps/test_uninstall_notices.py": SAID,
    "tests/install/steps/test_manual_driver.py": "what Linux' distributions are told",
    "tests/install/steps/test_conda_plan.py": RECKONED,
    "tests/install/plan/test_goals.py": RECKONED,
    "tests/install/steps/test_mirrors.py": RECKONED,
    "tests/install/plan/test_preview.py": "what is told before it happens; the tests of what happens are beside it",
    "tests/install/steps/test_rate_limit.py": "the sockets are those of tests/fetch",
    "tests/install/plan/test_validation.py": RECKONED,
    "tests/install/plan/test_planner.py": RECKONED,
    "tests/install/jobs/test_size_probe.py": "the sockets are those of tests/fetch",
    "tests/install/jobs/test_real_torch.py": "one more real install; test_road.py asks its environment the same",
    "tests/install/plan/test_replanning.py": SAID,
    "tests/install/packages/test_tensorflow.py": "the same install with another list of packages",
    "tests/install/packages/test_requirements.py": "the same install with another list of packages",
    "tests/install/steps/test_wsl2_plan.py": SAID,
    "tests/install/steps/test_wsl2.py": SAID,
    "tests/installers/test_icon.py": SOURCE,
    "tests/installers/test_workflows.py": SOURCE,
    "tests/nvml/test_driver_faults.py::test_gpu_that_stays_awake_is_sampled_again": "minutes of reading Linux' /sys",
    "tests/nvml/test_driver_faults.py::test_idle_laptop_gpu_is_released_and_sleeps": "an hour of reading /sys",
    "tests/test_layering.py": SOURCE,
    "tests/texts/test_texts.py": "reads the sentences; Windows in Chinese reads them, too",
    "tests/windows/test_real_install.py": "for real PCs, whose registry test_road.py would change; that does more",
}

# Of these files Windows runs the tests named here: what it may do otherwise (folders that move, files that somebody
# holds or that are locked, programs that are killed). The others start the same programs or make the same
# environments, half a minute of Wine each, and judge what was chosen, said or written down.
ENOUGH = {
    "tests/cli/test_conda.py": ("test_a_plan_says_what_conda_does",),
    "tests/cli/test_download.py": (
        "test_events_and_figures",
        "test_stopped_download_resumes",
        "test_existing_user_file_is_kept",
    ),
    "tests/cli/test_uninstall.py": ("test_everything_is_removed",),
    "tests/cli/test_use.py": ("test_use_prints_activation", "test_removed_environment_is_refused"),
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
    # Killed, gone on with and taken back it is on the whole road, with the real PyTorch: test_road.py.
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
        "test_a_folder_that_is_not_ours_stays",
        "test_killed_removal_is_finished",
        "test_not_while_an_install_runs",
        "test_leftovers_of_stopped_install_are_removed",
    ),
}

# Of a test's many cases the first, the last and one between: what the system changes, it changes in each of them.
CASES = 3

# But every case where the case itself is what systems differ in.
EVERY_CASE = {
    "tests/windows/*": "Windows' own",
    "tests/system/*": "what this system says of itself",
    "tests/detect/*": "programs and folders as they lie about",
    "tests/core/test_filesystem.py": "files that somebody has open",
    "tests/fetch/*": "files and sockets",
    "tests/nvml/*": "a library of this system",
    "tests/install/elevation/*": "attacks on what runs with administrator's rights",
    "tests/install/files/test_archives.py": "names of files that lead out",
    "tests/install/bundle/*": "names of files that lead out",
    "tests/install/jobs/test_create_bundle.py": "names of files that lead out",
    "tests/install/plan/test_plan_files.py": "names of folders",
    "tests/install/steps/test_environment_variables.py": "what Windows keeps in its registry",
    "tests/install/*/test_*kills.py": "where the power fails",
    "tests/install/journal/test_power_cuts.py": "where the power fails",
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
