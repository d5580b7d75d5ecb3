/* What the launchers say when the program cannot start or ends early: to a terminal, else in a message box.

   A window program has no stderr: Python's last words would be lost. Here its C runtime's stderr goes to
   %LOCALAPPDATA%\gpu-assistant\logs\start.txt from before Python begins, and an exit code other than 0 shows a box with
   what was said, what is likely, what to do, and where the file lies; each start begins it anew, and a good end leaves
   none where Python said nothing. Python ends a start that fails early (a codec that is missing, say) by exit() and never
   comes back to the launcher: a function that the C runtime calls at exit shows the box then, too. So do one for abort()
   (Py_FatalError) and one for a fault that nobody handles; Windows goes on with its own report afterwards. What is
   shown elsewhere (GPU_ASSISTANT_ERROR_SHOWN: set in gpu_assistant/gui/app.py, and by the uninstaller, which may run
   silently) is not shown twice. */

#include <windows.h>
#include <shlobj.h>
#include <signal.h>
#include <stdio.h>

#include "report.h"

#define LONGEST 32768
#define SHOWN 600  /* of Python's last words, in letters */

static int is_chinese(void)
{
    return PRIMARYLANGID(GetUserDefaultUILanguage()) == LANG_CHINESE;
}

void complain(const wchar_t *english, const wchar_t *chinese)
{
    const wchar_t *text = is_chinese() ? chinese : english;
#ifdef CONSOLE
    DWORD written;
    HANDLE out = GetStdHandle(STD_ERROR_HANDLE);
    if (!WriteConsoleW(out, text, lstrlenW(text), &written, NULL)) {
        char bytes[2048];
        int size = WideCharToMultiByte(CP_ACP, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
        if (size > 1)
            WriteFile(out, bytes, size - 1, &written, NULL);
    }
#else
    if (!GetEnvironmentVariableW(L"GPU_ASSISTANT_ERROR_SHOWN", NULL, 0))
        MessageBoxW(NULL, text, L"GPU Assistant", MB_ICONERROR | MB_SETFOREGROUND);
#endif
}

/* https://learn.microsoft.com/windows/apps/develop/smart-app-control/test-your-app-with-smart-app-control:
   0 off, 1 on, 2 evaluating (blocks nothing). */
int smart_app_control_is_on(void)
{
    DWORD state = 0, size = sizeof state;
    return RegGetValueW(HKEY_LOCAL_MACHINE, L"SYSTEM\\CurrentControlSet\\Control\\CI\\Policy",
                        L"VerifiedAndReputablePolicyState", RRF_RT_REG_DWORD, NULL, &state, &size) == ERROR_SUCCESS &&
           state == 1;
}

#ifndef CONSOLE

static wchar_t home[LONGEST], report[MAX_PATH];
static volatile LONG ended;
static FILE *(*standard_file)(unsigned);
static FILE *(*reopen)(const wchar_t *, const wchar_t *, FILE *);

static void at_exit(void)
{
    end_report(1);
}

static void show_ending(int crashed);

/* abort() calls it and then ends the process (learn.microsoft.com/cpp/c-runtime-library/reference/abort). */
static void at_abort(int signal)
{
    (void)signal;
    show_ending(1);
}

static LONG WINAPI at_fault(EXCEPTION_POINTERS *fault)
{
    (void)fault;
    show_ending(1);
    return EXCEPTION_CONTINUE_SEARCH;
}

/* The C runtime is Python's (ucrtbase.dll), loaded with it; the launcher's own is another one. */
void begin_report(const wchar_t *folder)
{
    HMODULE runtime = GetModuleHandleW(L"ucrtbase.dll");
    int (*call_at_exit)(void (*)(void));
    void (*(*call_at_signal)(int, void (*)(int)))(int);
    lstrcpynW(home, folder, LONGEST);
    if (!runtime)
        return;
    standard_file = (FILE * (*)(unsigned)) (void *)GetProcAddress(runtime, "__acrt_iob_func");
    reopen = (FILE * (*)(const wchar_t *, const wchar_t *, FILE *)) (void *)GetProcAddress(runtime, "_wfreopen");
    call_at_exit = (int (*)(void (*)(void)))(void *)GetProcAddress(runtime, "_crt_atexit");
    if (call_at_exit)
        call_at_exit(at_exit);
    call_at_signal = (void (*(*)(int, void (*)(int)))(int))(void *)GetProcAddress(runtime, "signal");
    if (call_at_signal)
        call_at_signal(SIGABRT, at_abort);
    SetUnhandledExceptionFilter(at_fault);
    if (!standard_file || !reopen || SHGetFolderPathW(NULL, CSIDL_LOCAL_APPDATA, NULL, 0, report) != S_OK ||
        lstrlenW(report) > MAX_PATH - 40) {
        report[0] = 0;
        return;
    }
    CreateDirectoryW(lstrcatW(report, L"\\gpu-assistant"), NULL);
    CreateDirectoryW(lstrcatW(report, L"\\logs"), NULL);
    lstrcatW(report, L"\\start.txt");
    if (!reopen(report, L"wN", standard_file(2))) /* N: no child inherits it */
        report[0] = 0;
}

/* The end of what Python said, trimmed, as text; its lines are in the ANSI code page. */
static void last_words(wchar_t *text)
{
    char bytes[4 * SHOWN];
    DWORD size = 0;
    int letters;
    HANDLE file = CreateFileW(report, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, 0, NULL);
    text[0] = 0;
    if (file == INVALID_HANDLE_VALUE)
        return;
    SetFilePointer(file, -(LONG)sizeof bytes, NULL, FILE_END); /* fails, and reads all, where there is less */
    if (!ReadFile(file, bytes, sizeof bytes, &size, NULL))
        size = 0;
    CloseHandle(file);
    letters = MultiByteToWideChar(CP_ACP, 0, bytes, size, text, 4 * SHOWN);
    while (letters && (text[letters - 1] == L'\n' || text[letters - 1] == L'\r' || text[letters - 1] == L' '))
        letters--;
    text[letters] = 0;
}

static int says(const wchar_t *text, const wchar_t *word)
{
    return FindStringOrdinal(FIND_FROMSTART, text, -1, word, -1, FALSE) >= 0;
}

/* Whether a module that was not found, or not let in, ended the start; Python's own words are English everywhere. */
static int lacks_module(const wchar_t *text)
{
    return !text[0] || says(text, L"ModuleNotFoundError") || says(text, L"ImportError") ||
           says(text, L"No module named") || says(text, L"DLL load failed") || says(text, L"Fatal Python error") ||
           says(text, L"Could not find platform") || says(text, L"Traceback (most recent call last)");
}

/* Of all that Python says of a module, the name of the exception and what follows it on its line, put into `text`. */
static const wchar_t *last_error(wchar_t *text)
{
    int at = FindStringOrdinal(FIND_FROMEND, text, -1, L"Error: ", -1, FALSE), end;
    if (at < 0)
        return L"";
    for (end = at; text[end] && text[end] != L'\n' && text[end] != L'\r' && text[end] != L')' && text[end] != L'\uff09';)
        end++;
    text[end] = 0;
    while (at && text[at - 1] > L' ' && text[at - 1] != L'(' && text[at - 1] != L'\uff08')
        at--;
    return text + at;
}

/* Of Python's last words on a fault of its own, the line that names it. */
static const wchar_t *fatal_error(wchar_t *text)
{
    int at = FindStringOrdinal(FIND_FROMSTART, text, -1, L"Fatal Python error: ", -1, FALSE), end;
    if (at < 0)
        return L"";
    for (end = at; text[end] && text[end] != L'\n' && text[end] != L'\r';)
        end++;
    text[end] = 0;
    return text + at;
}

/* A good end: the file goes, unless Python wrote into it. */
static void remove_empty_report(void)
{
    WIN32_FILE_ATTRIBUTE_DATA file;
    if (!report[0] || !reopen(L"NUL", L"w", standard_file(2)))
        return;
    if (GetFileAttributesExW(report, GetFileExInfoStandard, &file) && !file.nFileSizeLow && !file.nFileSizeHigh)
        DeleteFileW(report);
}

/* Python has ended with this exit code, or is about to. */
void end_report(int code)
{
    if (code)
        show_ending(0);
    else if (!InterlockedExchange(&ended, 1))
        remove_empty_report();
}

/* Once: a box with what was said last, what is likely, and what to do. */
static void show_ending(int crashed)
{
    static wchar_t words[4 * SHOWN + 1], text[LONGEST + 8 * SHOWN];
    const wchar_t *shown = words;
    int chinese = is_chinese();
    if (InterlockedExchange(&ended, 1))
        return;
    words[0] = 0;
    if (report[0])
        last_words(words);
    int damaged = !crashed && lacks_module(words);
    if (crashed)
        shown = fatal_error(words);
    else if (damaged)
        shown = last_error(words);
    else if (lstrlenW(shown) > SHOWN)
        shown += lstrlenW(shown) - SHOWN;
    lstrcpyW(text, chinese ? L"GPU 助手意外退出。" : L"GPU Assistant closed unexpectedly.");
    if (*shown)
        lstrcatW(lstrcatW(text, L"\n\n"), shown);
    if (crashed)
        lstrcatW(text, chinese ? L"\n\n程序内部出错。请重新打开它；如果再次出现，请安装最新版本，"
                                 L"并把详细信息发给我们。"
                               : L"\n\nAn error inside the program closed it. Open it again; if this happens again, install "
                                 L"the newest version and send us the details.");
    if (damaged) {
        if (smart_app_control_is_on())
            lstrcatW(text, chinese
                               ? L"\n\n这台电脑开启了“智能应用控制”（Smart App Control）。它会拦截 Microsoft 无法识别的文件，"
                                 L"而且不能单独放行。很可能 GPU 助手的某个文件被拦截了。请安装带有数字签名的最新版本；"
                                 L"下载页面说明了还可以怎么做。"
                               : L"\n\nSmart App Control is on in this Windows. It blocks files that Microsoft does not "
                                 L"recognise, and allows no exceptions; most likely it blocked one of ours. Install "
                                 L"the newest signed version; the download page says what else you can do.");
        else
            lstrcatW(text, chinese ? L"\n\n很可能它的某个文件缺失，或被杀毒软件拦截。请重新安装 GPU 助手，"
                                     L"你的设置和环境都会保留。如果仍然不行，请查看杀毒软件的隔离区，"
                                     L"恢复来自这个文件夹的文件："
                                   : L"\n\nMost likely one of its files is missing, or a virus scanner blocked it. Install GPU "
                                     L"Assistant again: your settings and environments stay. If that does not help, open "
                                     L"your virus scanner's quarantine and restore the files from this folder:");
        if (!smart_app_control_is_on())
            lstrcatW(lstrcatW(text, L"\n"), home);
    }
    if (report[0])
        lstrcatW(lstrcatW(text, chinese ? L"\n\n详细信息在这个文件和旁边的 gpu-assistant.log 中：\n"
                                           : L"\n\nThe details are in this file, and in gpu-assistant.log next to it:\n"),
                 report);
    complain(text, text);
}

#endif
