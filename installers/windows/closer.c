/* closer.exe FOLDER: closes the program that runs from a folder, as a person would, and waits for it.

   Its windows are asked to close (the program may ask the person about work under way); a program without a
   window is waited for. Exit code 0: nothing runs from there any more. 1: something still does. */

#include <windows.h>
#include <tlhelp32.h>

#define LONGEST 32768
#define PATIENCE_MS 20000
#define MOST 64

static DWORD ids[MOST];
static HANDLE running[MOST];
static DWORD found;

static int is_ours(const wchar_t *path, const wchar_t *folder)
{
    static const wchar_t *names[] = {L"GPU Assistant.exe", L"gpu-assistant.exe", L"app\\bin\\uv.exe"};
    int size = lstrlenW(folder);
    if (CompareStringOrdinal(path, size, folder, size, TRUE) != CSTR_EQUAL || path[size] != L'\\')
        return 0;
    for (int i = 0; i < 3; i++)
        if (CompareStringOrdinal(path + size + 1, -1, names[i], -1, TRUE) == CSTR_EQUAL)
            return 1;
    return 0;
}

static void look(const wchar_t *folder)
{
    static wchar_t path[LONGEST];
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    for (BOOL more = Process32FirstW(all, &entry); more && found < MOST; more = Process32NextW(all, &entry)) {
        DWORD size = LONGEST;
        HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, entry.th32ProcessID);
        if (!process)
            continue;
        if (QueryFullProcessImageNameW(process, 0, path, &size) && is_ours(path, folder)) {
            ids[found] = entry.th32ProcessID;
            running[found++] = process;
        } else
            CloseHandle(process);
    }
    CloseHandle(all);
}

static BOOL CALLBACK ask(HWND window, LPARAM unused)
{
    DWORD id;
    (void)unused;
    GetWindowThreadProcessId(window, &id);
    for (DWORD i = 0; i < found; i++)
        if (ids[i] == id && IsWindowVisible(window) && !GetWindow(window, GW_OWNER))
            PostMessageW(window, WM_CLOSE, 0, 0);
    return TRUE;
}

int wmain(int count, wchar_t **words)
{
    static wchar_t folder[LONGEST];
    if (count != 2 || !GetFullPathNameW(words[1], LONGEST, folder, NULL))
        return 2;
    int size = lstrlenW(folder);
    if (size && folder[size - 1] == L'\\')
        folder[size - 1] = 0;
    look(folder);
    if (!found)
        return 0;
    EnumWindows(ask, 0);
    return WaitForMultipleObjects(found, running, TRUE, PATIENCE_MS) == WAIT_TIMEOUT;
}
