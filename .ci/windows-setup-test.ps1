# Tries a built setup program on a real Windows, as .ci/windows-setup does under Wine: silently installed, opened, kept
# from its files by another program, damaged, repaired, uninstalled. The first thing that is not as it should be ends it.
param([Parameter(Mandatory)][string] $Setup)
$ErrorActionPreference = 'Stop'
$folder = Join-Path $env:LOCALAPPDATA 'Programs\GPU Assistant'
$report = Join-Path $env:LOCALAPPDATA 'gpu-assistant\logs\start.txt'

function Confirm-That([bool] $Holds, [string] $What) {
    if (-not $Holds) { throw $What }
    Write-Output "ok: $What"
}

function Get-ExitCode([string] $Program, [string] $Arguments) {
    (Start-Process -FilePath $Program -ArgumentList $Arguments -Wait -PassThru).ExitCode
}

function Wait-Until([scriptblock] $Holds, [string] $What) {
    $end = (Get-Date).AddSeconds(90)
    while (-not (& $Holds)) {
        if ((Get-Date) -gt $end) { throw "after 90 s not: $What" }
        Start-Sleep -Milliseconds 200
    }
    Write-Output "ok: $What"
}

# A title in either language; the box of an early end has the program's name, too.
function Open-Program {
    $process = Start-Process -FilePath (Join-Path $folder 'GPU Assistant.exe') -PassThru
    Wait-Until { $process.Refresh(); $process.HasExited -or $process.MainWindowHandle -ne 0 } 'it shows a window or ends'
    if ($process.HasExited) { throw "it ended with $($process.ExitCode) and showed nothing" }
    $process
}

Confirm-That ((Get-ExitCode $Setup '/S') -eq 0) 'installed silently'
$version = & "$folder\gpu-assistant.exe" --version
Confirm-That ($LASTEXITCODE -eq 0) "it says its version: $version"
$machine = & "$folder\gpu-assistant.exe" detect --json | ConvertFrom-Json
Confirm-That ($machine.os.system -eq 'windows') 'detect knows Windows'

$program = Open-Program | Select-Object -Last 1
Confirm-That ((Get-ExitCode $Setup '/S') -eq 0) 'installed over the open program, which was asked to close'
Confirm-That $program.WaitForExit(30000) 'the open program has ended'

# NTFS renames no folder below which a file is open; Wine does.
foreach ($held in 'installed.json', 'app\gpu_assistant\app\__init__.pyc') {
    $file = [IO.File]::Open((Join-Path $folder $held), 'Open', 'Read', 'Read')
    try { $code = Get-ExitCode $Setup '/S' } finally { $file.Dispose() }
    Confirm-That ($code -eq 3) "refused while another program has $held open"
    Confirm-That ((& "$folder\gpu-assistant.exe" --version) -eq $version) 'the program that was there is whole'
    Confirm-That (-not ('new', 'old', 'gone' | Where-Object { Test-Path (Join-Path $folder $_) })) 'nothing stays of the attempt'
}

$taken = Join-Path $folder 'app\PySide6\QtWidgets.pyd'
Move-Item $taken "$env:TEMP\QtWidgets.pyd"
$program = Open-Program | Select-Object -Last 1
Confirm-That ($program.MainWindowTitle -eq 'GPU Assistant') 'a missing module is said in a box'
Confirm-That ((Get-Content -Raw $report) -match 'QtWidgets') "the report names it: $report"
$program.Kill()
$program.WaitForExit()
Confirm-That ((Get-ExitCode $Setup '/S') -eq 0 -and (Test-Path $taken)) 'installing again repairs it'

# What a junction in our folders leads to is somebody else's; Wine cannot take a link to a folder away.
$other = (New-Item -ItemType Directory -Path (Join-Path $env:TEMP 'gpu-assistant-other')).FullName
Set-Content -Path "$other\thesis.txt" -Value 'all of it'
New-Item -ItemType Junction -Path "$folder\app\link" -Target $other | Out-Null
Confirm-That ((Get-ExitCode $Setup '/S') -eq 0 -and -not (Test-Path "$folder\gone")) 'installed over a junction, which is gone'
Confirm-That (Test-Path "$other\thesis.txt") 'what the junction led to is there'
New-Item -ItemType Junction -Path "$folder\app\link" -Target $other | Out-Null

Confirm-That ((Get-ExitCode "$folder\uninstall.exe" '/S') -eq 0) 'uninstalled silently'
Wait-Until { -not (Test-Path $folder) } 'the folder is gone'
Confirm-That (Test-Path "$other\thesis.txt") 'what the junction led to is still there'
