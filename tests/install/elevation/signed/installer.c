/* Behaves like a publisher's installer: looks at its switches, writes down how it was called, ends with an exit code.

   The environment says which: FAKE_INSTALLER_LOG the file it adds its command line to, FAKE_INSTALLER_EXIT the code
   (else 1, "done, restart", as NVIDIA's; 1639 for switches that it does not know). No C library: 3 kB. */

#include <windows.h>

static int has(const wchar_t *line, const wchar_t *word)
{
    int length = lstrlenW(word);
    for (; *line; line++) {
        int same = 0;
        while (same < length && line[same] == word[same])
            same++;
        if (same == length)
            return 1;
    }
    return 0;
}

void start(void)
{
    static wchar_t text[32768];
    const wchar_t *line = GetCommandLineW();
    if (GetEnvironmentVariableW(L"FAKE_INSTALLER_LOG", text, 32768)) {
        HANDLE log = CreateFileW(text, FILE_APPEND_DATA, FILE_SHARE_READ, NULL, OPEN_ALWAYS, 0, NULL);
        DWORD written;
        WriteFile(log, line, lstrlenW(line) * 2, &written, NULL);
        WriteFile(log, L"\n", 2, &written, NULL);
        CloseHandle(log);
    }
    if (!has(line, L" -s -n Display.Driver HDAudio.Driver") && !has(line, L" /install /quiet /norestart"))
        ExitProcess(1639);
    UINT code = 1;
    if (GetEnvironmentVariableW(L"FAKE_INSTALLER_EXIT", text, 32768)) {
        code = 0;
        for (wchar_t *digit = text; *digit >= L'0' && *digit <= L'9'; digit++)
            code = code * 10 + (*digit - L'0');
    }
    ExitProcess(code);
}
