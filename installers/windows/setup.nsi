; The installer: for one user, no administrator rights. Made by build.py, which gives
;   VERSION, COMMAS (four numbers), MEGABYTES, KILOBYTES, COMPRESSOR, ICON, SIDE, OUT,
;   and beside this file's text: texts.nsh, files.nsh (what is installed) and finalize.nsh (the uninstaller's signature).
;
; Silent: /S, then /D=FOLDER last and without quotes. Uninstaller: /S keeps the Python environments,
; /S /ENVIRONMENTS=delete removes them. Exit codes: 0 done, 2 not possible (said in a box unless silent),
; 3 the program is open and does not close, or another program holds one of its files; the program is as it was.
;
; What is new is unpacked into the folder "new" and then exchanged for what is there by renaming: the parts of the old
; program go into "old", those of the new one take their places, and once "old" is called "gone" the new one counts. One
; part that cannot be renamed puts all of them back. Killed at any moment, it leaves the old program or the new one, an
; entry in Windows' list and an uninstaller that works; cut off within the exchange itself, running it again puts
; everything in order. The folders app, runtime, licenses, new, old and gone are ours alone.
;
; No program of ours is written into the temporary folder: the program is closed by its own launcher. NSIS puts its
; plug-ins there (signed: plugins.py), and the uninstaller's copy of itself.
Unicode true
Target amd64-unicode
SetCompressor ${COMPRESSOR}
!if "${COMPRESSOR}" != "zlib"
  SetCompressorDictSize 64
!endif
RequestExecutionLevel user
ManifestDPIAware true
ManifestSupportedOS Win10
Name "$(PROGRAM_NAME)"
BrandingText "$(PROGRAM_NAME) ${VERSION}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\GPU Assistant"
InstallDirRegKey HKCU "Software\GPU Assistant" "InstallDir"
AllowSkipFiles off
ShowInstDetails nevershow
ShowUninstDetails nevershow
VIProductVersion "${COMMAS}"
VIAddVersionKey ProductName "GPU Assistant"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "GPU Assistant setup"
VIAddVersionKey CompanyName "The GPU Assistant authors"
VIAddVersionKey LegalCopyright "Apache-2.0"

!include MUI2.nsh
!include LogicLib.nsh
!include FileFunc.nsh
!include WinVer.nsh
!include x64.nsh
!include WordFunc.nsh

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\GPU Assistant"
!define RUN_ONCE_KEY "Software\Microsoft\Windows\CurrentVersion\RunOnce"
!define PROGRAM "GPU Assistant.exe"
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_WELCOMEFINISHPAGE_BITMAP "${SIDE}"
!define MUI_WELCOMEFINISHPAGE_BITMAP_STRETCH FitControl
!define MUI_UNWELCOMEFINISHPAGE_BITMAP "${SIDE}"
!define MUI_UNWELCOMEFINISHPAGE_BITMAP_STRETCH FitControl

Var OldVersion
Var OldFolder
Var WelcomeText
Var FirstTime
Var Environments
Var Data

!define MUI_WELCOMEPAGE_TITLE "$(WELCOME_TITLE)"
!define MUI_WELCOMEPAGE_TEXT "$WelcomeText"
!insertmacro MUI_PAGE_WELCOME
!define MUI_PAGE_CUSTOMFUNCTION_LEAVE LeaveDirectory
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\${PROGRAM}"
!define MUI_FINISHPAGE_RUN_TEXT "$(RUN)"
!insertmacro MUI_PAGE_FINISH
!define MUI_PAGE_CUSTOMFUNCTION_SHOW un.HideSpace
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_UNPAGE_FINISH
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"
!include "texts.nsh"
!include "finalize.nsh"

; Leave with an exit code; `text` is said in a box unless silent.
!macro Refuse code text
  MessageBox MB_ICONSTOP|MB_OK "${text}" /SD IDOK
  SetErrorLevel ${code}
  Quit
!macroend

; One setup program and one uninstaller at a time. `name` of the mutex lives as long as we do.
!macro OnlyOne name
  System::Call 'kernel32::CreateMutexW(p 0, i 0, w "${name}") p .r1 ?e'
  Pop $0
  ${If} $0 = 183
    !insertmacro Refuse 2 "$(SETUP_TWICE)"
  ${EndIf}
!macroend

; Closes the program that runs from the folder $9, with the launcher in `launcher`; the person may try again, a silent
; run gives up. A launcher that Windows does not start cannot ask: what is in use is found by the exchange then.
!macro CloseProgram un launcher
  Function ${un}CloseProgram
    DetailPrint "$(CLOSING)"
    again:
    ExecWait '"${launcher}" --close-program "$9"' $0
    StrCmp $0 "1" 0 closed
    MessageBox MB_ICONEXCLAMATION|MB_RETRYCANCEL "$(STILL_RUNNING)" /SD IDCANCEL IDRETRY again
    Call ${un}TakeAwayNew
    SetErrorLevel 3
    Quit
    closed:
  FunctionEnd
!macroend

; RMDir /r enters a junction and empties what it leads to (myDelete in NSIS's Source/exehead/util.c). So each link to a
; folder in or below the folder $R0 is taken away first, by RemoveDirectory, which leaves alone what it leads to
; (learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-removedirectoryw). $R4 is 1 where one of them stays.
!macro RemoveTree un
  Function ${un}RemoveLinks
    Push $R1
    Push $R2
    System::Call 'kernel32::GetFileAttributesW(w R0) i .R1'
    IntOp $R2 $R1 & 0x410 ; FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_DIRECTORY
    ${If} $R1 = -1
    ${ElseIf} $R2 = 0x410
      System::Call 'kernel32::RemoveDirectoryW(w R0) i .R1'
      ${If} $R1 = 0
        StrCpy $R4 1
      ${EndIf}
    ${ElseIf} $R2 = 0x10
      FindFirst $R1 $R2 "$R0\*.*"
      ${DoWhile} $R2 != ""
        ${If} $R2 != "."
        ${AndIf} $R2 != ".."
        ${AndIf} ${FileExists} "$R0\$R2\*.*"
          Push $R0
          StrCpy $R0 "$R0\$R2"
          Call ${un}RemoveLinks
          Pop $R0
        ${EndIf}
        FindNext $R1 $R2
      ${Loop}
      FindClose $R1
    ${EndIf}
    Pop $R2
    Pop $R1
  FunctionEnd

  Function ${un}RemoveTree
    Push $R4
    StrCpy $R4 0
    Call ${un}RemoveLinks
    ${If} $R4 = 0
      RMDir /r "$R0"
    ${EndIf}
    Pop $R4
  FunctionEnd
!macroend
!insertmacro RemoveTree ""
!insertmacro RemoveTree "un."

; A folder of ours, with everything in it.
!macro RemoveFolder un folder
  StrCpy $R0 "$INSTDIR\${folder}"
  Call ${un}RemoveTree
!macroend

; What was unpacked and is not used.
!macro TakeAwayNew un
  Function ${un}TakeAwayNew
    SetOutPath "$TEMP" ; no folder of ours is the current one
    !insertmacro RemoveFolder "${un}" "new"
  FunctionEnd
!macroend
!insertmacro TakeAwayNew ""
!insertmacro TakeAwayNew "un."
!insertmacro CloseProgram "" "$INSTDIR\new\${PROGRAM}"
!insertmacro CloseProgram "un." "$INSTDIR\${PROGRAM}"

; Takes the program's own folders and files away, and nothing else.
!macro RemoveFiles
  !insertmacro RemoveFolder "un." "app"
  !insertmacro RemoveFolder "un." "runtime"
  !insertmacro RemoveFolder "un." "licenses"
  !insertmacro RemoveFolder "un." "new"
  !insertmacro RemoveFolder "un." "old"
  !insertmacro RemoveFolder "un." "gone"
  Delete "$INSTDIR\${PROGRAM}"
  Delete "$INSTDIR\gpu-assistant.exe"
  Delete "$INSTDIR\installed.json"
!macroend

; Every part of the program.
!macro EachPart do
  !insertmacro ${do} "app"
  !insertmacro ${do} "runtime"
  !insertmacro ${do} "licenses"
  !insertmacro ${do} "${PROGRAM}"
  !insertmacro ${do} "gpu-assistant.exe"
  !insertmacro ${do} "uninstall.exe"
  !insertmacro ${do} "installed.json"
!macroend

; Renames $R0 to $R1. NTFS refuses while anybody, a virus scanner or the indexer, has a file below open: asked again for
; 10 seconds. The error flag says that it did not work.
Function Move
  StrCpy $R2 0
  again:
  ClearErrors
  Rename "$R0" "$R1"
  IfErrors 0 moved
  IntOp $R2 $R2 + 1
  ${If} $R2 < 40
    DetailPrint "$(WAITING)"
    Sleep 250
    Goto again
  ${EndIf}
  SetErrors
  moved:
FunctionEnd

!macro MovePart part from to
  StrCpy $R0 "$INSTDIR${from}\${part}"
  StrCpy $R1 "$INSTDIR${to}\${part}"
  Call Move
!macroend

!macro MoveOut part
  ${If} ${FileExists} "$INSTDIR\${part}"
    !insertmacro MovePart "${part}" "" "\old"
    IfErrors back
  ${EndIf}
!macroend

!macro MoveIn part
  !insertmacro MovePart "${part}" "\new" ""
  IfErrors back
!macroend

!macro MoveBack part
  ${If} ${FileExists} "$INSTDIR\old\${part}"
    ${If} ${FileExists} "$INSTDIR\${part}"
      !insertmacro MovePart "${part}" "" "\new"
    ${EndIf}
    !insertmacro MovePart "${part}" "\old" ""
  ${EndIf}
!macroend

; The old program, from wherever an exchange was cut off.
Function Restore
  CreateDirectory "$INSTDIR\new"
  !insertmacro EachPart MoveBack
  RMDir "$INSTDIR\old"
FunctionEnd

; The program in "new" takes the place of the one that is there. The error flag says that the old one is back.
Function Exchange
  CreateDirectory "$INSTDIR\old"
  !insertmacro EachPart MoveOut
  !insertmacro EachPart MoveIn
  StrCpy $R0 "$INSTDIR\old"
  StrCpy $R1 "$INSTDIR\gone"
  Call Move
  IfErrors back
  !insertmacro RemoveFolder "" "gone"
  RMDir "$INSTDIR\new"
  ClearErrors
  Return
  back:
  Call Restore
  SetErrors
FunctionEnd

; What Windows' list of programs says of us.
Function Register
  WriteRegStr HKCU "Software\GPU Assistant" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "GPU Assistant"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The GPU Assistant authors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\${PROGRAM}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${KILOBYTES}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
FunctionEnd

Function .onInit
  ${IfNot} ${RunningX64}
  ${OrIfNot} ${AtLeastBuild} 17763
    !insertmacro Refuse 2 "$(WINDOWS_TOO_OLD)"
  ${EndIf}
  !insertmacro OnlyOne "GPUAssistantSetup"
  ; NSIS takes the usual folder in silence where /D= names one that cannot be.
  System::Call 'kernel32::GetCommandLineW() w .r1'
  ${GetOptions} "$1" "/D=" $2
  ${IfNot} ${Errors}
    StrCpy $3 $2 1 -1
    ${If} $3 == "\"
      StrCpy $2 $2 -1
    ${EndIf}
    ${If} $2 != $INSTDIR
      !insertmacro Refuse 2 "$(FOLDER_UNUSABLE)"
    ${EndIf}
  ${EndIf}
  ReadRegStr $OldFolder HKCU "${UNINSTALL_KEY}" "InstallLocation"
  ReadRegStr $OldVersion HKCU "${UNINSTALL_KEY}" "DisplayVersion"
  StrCpy $WelcomeText "$(WELCOME_TEXT)"
  ${If} $OldVersion == ""
    StrCpy $FirstTime 1
  ${Else}
    StrCpy $FirstTime 0
    StrCpy $WelcomeText "$(WELCOME_UPGRADE)"
    ${VersionCompare} "$OldVersion" "${VERSION}" $0
    ${If} $0 == 0
      StrCpy $WelcomeText "$(WELCOME_REPAIR)"
    ${ElseIf} $0 == 1
      MessageBox MB_ICONQUESTION|MB_YESNO|MB_DEFBUTTON2 "$(OLDER)" /SD IDYES IDYES +3
      SetErrorLevel 2
      Quit
    ${EndIf}
  ${EndIf}
FunctionEnd

; $0 is 1 where $INSTDIR holds something that is not ours. Other programs have an uninstall.exe, too: beside other files it
; says nothing. A folder "new" of ours has its installed.json from the first moment to the end of the exchange.
Function LooksStrange
  StrCpy $0 0
  ${If} ${FileExists} "$INSTDIR\*.*"
  ${AndIfNot} ${FileExists} "$INSTDIR\installed.json"
  ${AndIfNot} ${FileExists} "$INSTDIR\new\installed.json"
  ${AndIf} $INSTDIR != $OldFolder
    FindFirst $1 $2 "$INSTDIR\*.*"
    ${DoWhile} $2 != ""
      ${If} $2 != "."
      ${AndIf} $2 != ".."
      ${AndIf} $2 != "uninstall.exe"
        StrCpy $0 1
      ${EndIf}
      FindNext $1 $2
    ${Loop}
    FindClose $1
  ${EndIf}
FunctionEnd

Function LeaveDirectory
  Call LooksStrange
  ${If} $0 == 1
    MessageBox MB_ICONEXCLAMATION|MB_OK "$(NOT_EMPTY)"
    Abort
  ${EndIf}
FunctionEnd

Section
  Call LooksStrange
  ${If} $0 == 1
    !insertmacro Refuse 2 "$(NOT_EMPTY)"
  ${EndIf}
  ClearErrors
  SetOutPath "$INSTDIR"
  ${If} ${Errors}
    !insertmacro Refuse 2 "$(FOLDER_UNUSABLE)"
  ${EndIf}
  ${GetRoot} "$INSTDIR" $0
  ${DriveSpace} "$0\" "/D=F /S=K" $1
  System::Int64Op $1 < ${KILOBYTES}
  Pop $2
  ${If} $2 == 1
    !insertmacro Refuse 2 "$(DISK_FULL)"
  ${EndIf}
  ; An exchange that was cut off.
  ${If} ${FileExists} "$INSTDIR\old"
    Call Restore
  ${EndIf}
  !insertmacro RemoveFolder "" "new"
  !insertmacro RemoveFolder "" "gone"
  ; The first time the way back comes first.
  ${IfNot} ${FileExists} "$INSTDIR\uninstall.exe"
    ClearErrors
    WriteUninstaller "$INSTDIR\uninstall.exe"
    ${If} ${Errors}
      !insertmacro Refuse 2 "$(FOLDER_UNUSABLE)"
    ${EndIf}
  ${EndIf}
  ${If} $FirstTime == 1
    Call Register
  ${EndIf}
  !include "files.nsh"
  ClearErrors
  WriteUninstaller "$INSTDIR\new\uninstall.exe"
  ${If} ${Errors}
    Call TakeAwayNew
    !insertmacro Refuse 2 "$(FOLDER_UNUSABLE)"
  ${EndIf}
  SetOutPath "$INSTDIR" ; the current folder cannot be renamed
  StrCpy $9 "$INSTDIR"
  Call CloseProgram
  ${If} $OldFolder != ""
  ${AndIf} $OldFolder != $INSTDIR
  ${AndIf} ${FileExists} "$OldFolder\uninstall.exe"
    StrCpy $9 "$OldFolder"
    Call CloseProgram
  ${EndIf}
  exchange:
  Call Exchange
  ${If} ${Errors}
    MessageBox MB_ICONEXCLAMATION|MB_RETRYCANCEL "$(FILE_IN_USE)" /SD IDCANCEL IDRETRY exchange
    Call TakeAwayNew
    SetErrorLevel 3
    Quit
  ${EndIf}
  Call Register
  ; It lay somewhere else so far: its own uninstaller takes those files away, and nothing but those.
  ${If} $OldFolder != ""
  ${AndIf} $OldFolder != $INSTDIR
  ${AndIf} ${FileExists} "$OldFolder\uninstall.exe"
    ExecWait '"$OldFolder\uninstall.exe" /S /FILES _?=$OldFolder'
    Delete "$OldFolder\uninstall.exe"
    RMDir "$OldFolder"
  ${EndIf}
  SetOutPath "$INSTDIR"
  CreateShortcut "$SMPROGRAMS\GPU Assistant.lnk" "$INSTDIR\${PROGRAM}" "" "" "" SW_SHOWNORMAL "" "$(SHORTCUT)"
  ; Who took it off the desktop does not want it back with every version.
  ${If} $FirstTime == 1
    CreateShortcut "$DESKTOP\GPU Assistant.lnk" "$INSTDIR\${PROGRAM}" "" "" "" SW_SHOWNORMAL "" "$(SHORTCUT)"
  ${EndIf}
SectionEnd

; A file that could not be written, or no room: the program is as it was.
Function .onInstFailed
  Call TakeAwayNew
FunctionEnd

; ---- the way back

Section "un.$(SECTION_PROGRAM)" un.Program
  SectionIn RO
  StrCpy $9 "$INSTDIR"
  Call un.CloseProgram
  ${GetOptions} $CMDLINE "/FILES" $0
  ${IfNot} ${Errors}
    ; The program moves to another folder: all but its files stays.
    Call un.RemoveFiles
    Quit
  ${EndIf}
  ; The program that has no console; an end that it would report in a box is said here.
  System::Call 'kernel32::SetEnvironmentVariableW(w "GPU_ASSISTANT_ERROR_SHOWN", w "1")'
  ${If} $Environments == 1
    ExecWait '"$INSTDIR\${PROGRAM}" uninstall --all --yes --quiet' $0
    ${If} $0 != 0
      MessageBox MB_ICONEXCLAMATION|MB_OK "$(ENVIRONMENTS_LEFT)" /SD IDOK
      StrCpy $Environments 0
    ${EndIf}
  ${ElseIf} $Data == 1
    ; It knows which Pythons and journals the environments still need.
    ExecWait '"$INSTDIR\${PROGRAM}" uninstall --all --keep-environments --yes --quiet'
  ${EndIf}
  Call un.RemoveFiles
  Delete "$SMPROGRAMS\GPU Assistant.lnk"
  Delete "$DESKTOP\GPU Assistant.lnk"
  DeleteRegValue HKCU "${RUN_ONCE_KEY}" "GPUAssistant"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  DeleteRegKey HKCU "Software\GPU Assistant"
SectionEnd

!macro WaitFor part
  IfFileExists "$INSTDIR\${part}" wait
!macroend

; A program that has just ended, or a virus scanner, may hold a file yet: asked again for 10 seconds.
Function un.RemoveFiles
  SetOutPath "$TEMP"
  StrCpy $R2 0
  again:
  !insertmacro RemoveFiles
  !insertmacro WaitFor "app"
  !insertmacro WaitFor "runtime"
  !insertmacro WaitFor "licenses"
  !insertmacro WaitFor "${PROGRAM}"
  !insertmacro WaitFor "gpu-assistant.exe"
  !insertmacro WaitFor "installed.json"
  Goto removed
  wait:
  IntOp $R2 $R2 + 1
  ${If} $R2 < 40
    DetailPrint "$(WAITING)"
    Sleep 250
    Goto again
  ${EndIf}
  removed:
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
FunctionEnd

; Takes the folder $R0 of the data away where nothing but its marker is in it: beside anything else the marker stays, which
; says that the folder is the program's.
Function un.RemoveMarkedFolder
  StrCpy $0 0
  FindFirst $1 $2 "$R0\*.*"
  ${DoWhile} $2 != ""
    ${If} $2 != "."
    ${AndIf} $2 != ".."
    ${AndIf} $2 != ".gpu-assistant-folder.json"
      StrCpy $0 1
    ${EndIf}
    FindNext $1 $2
  ${Loop}
  FindClose $1
  ${If} $0 == 0
    Delete "$R0\.gpu-assistant-folder.json"
  ${EndIf}
  RMDir "$R0"
FunctionEnd

; What the program itself cannot take away of its data: the logs that it was writing, by their names.
Section "un.$(SECTION_DATA)" un.Data
  StrCpy $R0 "$LOCALAPPDATA\gpu-assistant\logs"
  Delete "$R0\gpu-assistant.log*"
  Delete "$R0\start.txt"
  Delete "$R0\crash.txt"
  Delete "$R0\window-now.txt"
  Call un.RemoveMarkedFolder
  StrCpy $R0 "$LOCALAPPDATA\gpu-assistant"
  Call un.RemoveMarkedFolder
SectionEnd

; Done first, by the program; here only to be chosen.
Section /o "un.$(SECTION_ENVIRONMENTS)" un.Environments
SectionEnd

!insertmacro MUI_UNFUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${un.Program} "$(ABOUT_PROGRAM)"
  !insertmacro MUI_DESCRIPTION_TEXT ${un.Data} "$(ABOUT_DATA)"
  !insertmacro MUI_DESCRIPTION_TEXT ${un.Environments} "$(ABOUT_ENVIRONMENTS)"
!insertmacro MUI_UNFUNCTION_DESCRIPTION_END

Function un.onInit
  StrCpy $Environments 0
  StrCpy $Data 1
  ${GetOptions} $CMDLINE "/FILES" $0
  ${If} ${Errors}
    !insertmacro OnlyOne "GPUAssistantUninstall"
  ${EndIf}
  ${GetOptions} $CMDLINE "/ENVIRONMENTS=" $0
  ${If} $0 == "delete"
    !insertmacro SelectSection ${un.Environments}
    StrCpy $Environments 1
  ${EndIf}
FunctionEnd

; Taking away needs no room, and "Space required: 0.0 KB" reads as if nothing were there.
Function un.HideSpace
  FindWindow $0 "#32770" "" $HWNDPARENT
  GetDlgItem $1 $0 1023
  ShowWindow $1 ${SW_HIDE}
FunctionEnd

Function un.onSelChange
  StrCpy $Environments 0
  StrCpy $Data 0
  ${If} ${SectionIsSelected} ${un.Environments}
    StrCpy $Environments 1
  ${EndIf}
  ${If} ${SectionIsSelected} ${un.Data}
    StrCpy $Data 1
  ${EndIf}
FunctionEnd
