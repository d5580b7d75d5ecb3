/* Closes the program that runs from a folder, as a person would, and waits for it; the setup program and the
   uninstaller ask for it with `"GPU Assistant.exe" --close-program FOLDER`, which loads no Python and has no console.

   Its windows are asked to close (the program may ask the person about work under way); a program without a
   window is waited for. Exit code 0: nothing runs from there any more. 1: something still does. 2: no such folder. */

#include <windows.h>
#include <tlhelp32.h>

#include "close.h"

#define LONGEST 32768
#define PATIENCE_MS 20000
/* WaitForMultipleObjects takes no more. */
#define MOST MAXIMUM_WAIT_OBJECTS

static DWORD ids[MOST];
static HANDLE running[MOST];
static DWORD found;

/* Which file a path leads to: the drive's serial number and the file's own. The same one has several paths: by a letter
   that stands for a folder (subst), a junction, a short name. */
static int identify(const wchar_t *path, BY_HANDLE_FILE_INFORMATION *file)
{
    HANDLE handle = CreateFileW(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0,
                                NULL);
    int known = handle != INVALID_HANDLE_VALUE && GetFileInformationByHandle(handle, file);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    return known;
}

static int is_ours(const wchar_t *path, const wchar_t *folder)
{
    static const wchar_t *names[] = {L"\\GPU Assistant.exe", L"\\gpu-assistant.exe", L"\\app\\bin\\uv.exe"};
    static wchar_t own[LONGEST];
    BY_HANDLE_FILE_INFORMATION it, ours;
    int size = lstrlenW(path);
    for (int i = 0; i < 3; i++) {
        int end = lstrlenW(names[i]);
        if (size < end || CompareStringOrdinal(path + size - end, end, names[i], end, TRUE) != CSTR_EQUAL)
            continue;
        if (lstrlenW(folder) + end >= LONGEST)
            return 0;
        lstrcatW(lstrcpyW(own, folder), names[i]);
        if (CompareStringOrdinal(path, size, own, -1, TRUE) == CSTR_EQUAL)
            return 1;
        return identify(path, &it) && identify(own, &ours) && it.dwVolumeSerialNumber == ours.dwVolumeSerialNumber &&
               it.nFileIndexHigh == ours.nFileIndexHigh && it.nFileIndexLow == ours.nFileIndexLow;
    }
    return 0;
}

static void look(const wchar_t *folder)
{
    static wchar_t path[LONGEST];
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    if (all == INVALID_HANDLE_VALUE)
        return;
    for (BOOL more = Process32FirstW(all, &entry); more && found < MOST; more = Process32NextW(all, &entry)) {
        DWORD size = LONGEST;
        HANDLE process;
        /* The uninstaller asks the program that it is about to take away: us. */
        if (entry.th32ProcessID == GetCurrentProcessId())
            continue;
        process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, entry.th32ProcessID);
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

int close_program(const wchar_t *given)
{
    static wchar_t folder[LONGEST];
    DWORD size = GetFullPathNameW(given, LONGEST, folder, NULL);
    if (!size || size >= LONGEST)
        return 2;
    if (folder[size - 1] == L'\\')
        folder[size - 1] = 0;
    look(folder);
    if (!found)
        return 0;
    EnumWindows(ask, 0);
    /* Not the end of all of them: WAIT_TIMEOUT or WAIT_FAILED (learn.microsoft.com/windows/win32/api/synchapi/
       nf-synchapi-waitformultipleobjects). */
    return WaitForMultipleObjects(found, running, TRUE, PATIENCE_MS) >= WAIT_OBJECT_0 + found;
}
