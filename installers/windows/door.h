#ifndef DOOR_H
#define DOOR_H

#include <wchar.h>

#define DOOR_FLAG L"--administrator-door"

int open_door(const wchar_t *folder, int count, wchar_t **words);

#endif
