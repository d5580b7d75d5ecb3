/* The program's door on Windows: loads the Python beside it into this very process and runs gpu_assistant.

   Built twice: as a window program (GPU Assistant.exe) and, with -DCONSOLE, for terminals (gpu-assistant.exe).
   PYTHON_DLL, PYTHON_ZIP and PYTHON_PATH come from the build. Everything is loaded by full path from our own folder:
   neither PATH nor the current folder is ever searched.

   With administrator rights the window's program is the first step, which loads no Python (door.c); the terminal's is
   what it starts, from a folder that only administrators write, and no way around that step. */

#include <windows.h>

#ifndef CONSOLE
#include "close.h"
#endif
#include "door.h"
#include "report.h"

#define LONGEST 32768
#define STRING(text) WIDE(text)
#define WIDE(text) L##text
/* winerror.h: an App Control policy, Smart App Control among them, does not let a file in. */
#ifndef ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION
#define ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION 4551
#endif

typedef int (*PyMain)(int, wchar_t **);

static wchar_t folder[LONGEST];

static void *below(const wchar_t *name, wchar_t *path)
{
    lstrcpynW(path, folder, LONGEST);
    lstrcatW(path, name);
    return path;
}

static int refuse(const wchar_t *english, const wchar_t *chinese)
{
    complain(english, chinese);
    return 1;
}

static int run(int count, wchar_t **given)
{
    static wchar_t path[LONGEST];
    DWORD size = GetModuleFileNameW(NULL, folder, LONGEST - 64);
    while (size && folder[size - 1] != L'\\')
        size--;
    folder[size] = 0;
    if (count > 1 && !lstrcmpW(given[1], DOOR_FLAG)) {
#ifdef CONSOLE
        /* Only the first step starts it with a pipe: User Account Control gives a program that it starts none. */
        if (GetFileType(GetStdHandle(STD_INPUT_HANDLE)) != FILE_TYPE_PIPE)
            return 1;
#else
        return open_door(folder, count, given);
#endif
    }

    /* From here on DLLs come from Windows' own folder, ours, and those that Python's modules name. */
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    AddDllDirectory(below(L"runtime", path));
    HMODULE python = LoadLibraryExW(below(L"runtime\\" STRING(PYTHON_DLL), path), NULL,
                                    LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    const wchar_t *parts[] = {L"runtime\\" STRING(PYTHON_ZIP), L"runtime\\" STRING(PYTHON_PATH),
                              L"app\\gpu_assistant"};
    DWORD trouble = python ? 0 : GetLastError();
    int whole = python != NULL;
    for (int i = 0; i < 3; i++)
        whole = whole && GetFileAttributesW(below(parts[i], path)) != INVALID_FILE_ATTRIBUTES;
    if (!whole && trouble == ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION)
        return refuse(L"GPU Assistant cannot start: a Windows rule (Smart App Control, or one from your organisation) "
                      L"blocked one of its files. Install the newest signed version; if that does not help, see the "
                      L"download page, or ask whoever manages this computer.\n",
                      L"GPU 助手无法启动：它的一个文件被 Windows 的规则拦截（“智能应用控制”或单位的策略）。"
                      L"请安装带有数字签名的最新版本；如果仍然不行，请看下载页面的说明，或联系管理这台电脑的人。\n");
    if (!whole)
        return refuse(L"GPU Assistant cannot start: one of its files is missing or was blocked. Install it again; if that "
                      L"does not help, check whether a virus scanner removed a file from its folder.\n",
                      L"GPU 助手无法启动：它的某个文件缺失或被拦截。请重新安装；如果仍然不行，"
                      L"请查看杀毒软件是否从它的文件夹中移走了文件。\n");
    PyMain start = (PyMain)(void *)GetProcAddress(python, "Py_Main");
    if (!start)
        return refuse(L"GPU Assistant cannot start: one of its files is damaged. Install it again.\n",
                      L"GPU 助手无法启动：它的某个文件已损坏。请重新安装。\n");

    wchar_t **words = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, (count + 4) * sizeof *words);
    if (!words)
        return 1;
    words[0] = given[0];
    words[1] = L"-I"; /* no variable of somebody else's Python counts here */
    words[2] = L"-m";
    words[3] = L"gpu_assistant";
    for (int i = 1; i < count; i++)
        words[i + 3] = given[i];
#ifdef CONSOLE
    return start(count + 3, words);
#else
    begin_report(folder);
    int code = start(count + 3, words);
    end_report(code);
    return code;
#endif
}

#ifdef CONSOLE
int wmain(int count, wchar_t **words)
{
    return run(count, words);
}
#else
#include <shellapi.h>

int WINAPI wWinMain(HINSTANCE instance, HINSTANCE previous, wchar_t *line, int show)
{
    int count;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    (void)instance, (void)previous, (void)line, (void)show;
    if (!words)
        return 1;
    if (count == 3 && !lstrcmpW(words[1], L"--close-program"))
        return close_program(words[2]);
    return run(count, words);
}
#endif
