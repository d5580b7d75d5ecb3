/* hold.exe FILE: keeps a file open for reading, as a virus scanner may, until its standard input ends. */

#include <stdio.h>
#include <windows.h>

int wmain(int count, wchar_t **words)
{
    HANDLE file = count == 2 ? CreateFileW(words[1], GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                                           FILE_ATTRIBUTE_NORMAL, NULL)
                             : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return 1;
    puts("held");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
