<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>BundleFolderCard</name>
    <message>
        <source>About {size}</source>
        <translation>约 {size}</translation>
    </message>
    <message>
        <source>Choose an empty or new folder, or an unfinished one to continue.</source>
        <translation>请选空文件夹或新文件夹；选上次没做完的会接着做。</translation>
    </message>
    <message>
        <source>Choose another folder…</source>
        <translation>换一个文件夹…</translation>
    </message>
    <message>
        <source>Folder for the files</source>
        <translation>放到哪个文件夹？</translation>
    </message>
    <message>
        <source>About {size}. {line}</source>
        <translation>约 {size}。{line}</translation>
    </message>
</context>
<context>
    <name>BundleReadyCard</name>
    <message>
        <source>expanded</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>collapsed</source>
        <translation>已收起</translation>
    </message>
    <message>
        <source>Next, on the computer with internet</source>
        <translation>接下来，在能上网的电脑上</translation>
    </message>
    <message>
        <source>Then, on the computer without internet</source>
        <translation>然后，在不能上网的电脑上</translation>
    </message>
    <message>
        <source>Copy the whole folder “{name}” to a USB stick (skip this if it is already on one).</source>
        <translation>把整个文件夹“{name}”拷到 U 盘（已经在 U 盘上就跳过）。</translation>
    </message>
    <message>
        <source>Download the GPU Assistant installer to the same USB stick.</source>
        <translation>下载 GPU 助手的安装文件，也放到这个 U 盘。</translation>
    </message>
    <message>
        <source>On GPU Assistant's download page, choose the file for Debian and Ubuntu:</source>
        <translation>在 GPU 助手的下载页选择适用于 Debian 和 Ubuntu 的文件：</translation>
    </message>
    <message>
        <source>Download the newest NVIDIA driver for the graphics card of the computer without internet to the same USB stick.</source>
        <translation>按不能上网的电脑的显卡下载最新的 NVIDIA 驱动，也拷到这个 U 盘。</translation>
    </message>
    <message>
        <source>Download NVIDIA driver {version} to the same USB stick.</source>
        <translation>下载 NVIDIA 驱动 {version}，也拷到这个 U 盘。</translation>
    </message>
    <message>
        <source>If GPU Assistant is not installed yet, double-click the installer.</source>
        <translation>还没装 GPU 助手的话，双击安装文件。</translation>
    </message>
    <message>
        <source>Double-click the NVIDIA driver's file to install it, then restart.</source>
        <translation>双击拷过去的 NVIDIA 驱动文件进行安装，然后重启。</translation>
    </message>
    <message>
        <source>In the next step, GPU Assistant installs the driver from your Linux distribution's packages. A phone sharing its connection over USB is enough.</source>
        <translation>下一步由 GPU 助手从发行版软件源安装驱动。手机用 USB 共享网络就够了。</translation>
    </message>
    <message>
        <source>The page below explains how; open GPU Assistant first to see which version is needed. A phone sharing its connection over USB is enough.</source>
        <translation>安装方法见下面的页面；需要哪个版本，可以先打开 GPU 助手查看。用手机的 USB 共享网络就够了。</translation>
    </message>
    <message>
        <source>Windows downloads WSL2 during the setup.</source>
        <translation>安装时 Windows 会自动下载 WSL2。</translation>
    </message>
    <message>
        <source>Open GPU Assistant, press “Install from an offline folder” and choose “{name}”.</source>
        <translation>打开 GPU 助手，点“从离线文件夹安装”，选择“{name}”。</translation>
    </message>
    <message>
        <source>Install the NVIDIA driver as GPU Assistant explains, restart, and open GPU Assistant again to finish.</source>
        <translation>按 GPU 助手的说明安装 NVIDIA 驱动，重启后再打开 GPU 助手，完成剩下的步骤。</translation>
    </message>
    <message>
        <source>On GPU Assistant's download page, choose the file for other Linux systems:</source>
        <translation>在 GPU 助手的下载页选择适用于其他 Linux 的文件：</translation>
    </message>
    <message>
        <source>Connect the computer to the internet and install GPU Assistant from the copied file.</source>
        <translation>让那台电脑联网，用拷过去的文件安装 GPU 助手。</translation>
    </message>
    <message>
        <source>Prepare another folder</source>
        <translation>再准备一个文件夹</translation>
    </message>
    <message>
        <source>Command and checksum</source>
        <translation>命令和校验值</translation>
    </message>
    <message>
        <source>Or open a terminal on the computer without internet in the folder that contains “{name}”, and type:</source>
        <translation>也可以在不能上网的电脑上“{name}”所在的文件夹里打开终端，输入：</translation>
    </message>
    <message>
        <source>{release} for {computer}, {count} files. Checksum of the list: {mark}</source>
        <translation>{release}，用于 {computer}，共 {count} 个文件。清单的校验值：{mark}</translation>
    </message>
    <message>
        <source>On GPU Assistant's download page, choose the file for Windows:</source>
        <translation>在 GPU 助手的下载页选择适用于 Windows 的文件：</translation>
    </message>
    <message>
        <source>The folder does not include the driver.</source>
        <translation>离线文件夹里没有驱动。</translation>
    </message>
    <message>
        <source>Connect it to the internet once, to install the NVIDIA driver.</source>
        <translation>联网一次，用来安装 NVIDIA 驱动。</translation>
    </message>
    <message>
        <source>Connect the computer to the internet, install the NVIDIA driver that its card needs, then restart.</source>
        <translation>让那台电脑联网，安装适合它显卡的 NVIDIA 驱动，然后重启。</translation>
    </message>
    <message>
        <source>All files are checked first; nothing is installed until you press “Install”.</source>
        <translation>GPU 助手会先检查所有文件，点“安装”之前不会安装任何东西。</translation>
    </message>
    <message>
        <source>The folder does not include the driver, so this needs internet. A phone sharing its connection over USB is enough.</source>
        <translation>文件夹里没有驱动，这一步要联网。用手机的 USB 共享网络就够了。</translation>
    </message>
    <message>
        <source>All files are checked first; nothing is installed until you press “Install”. To open GPU Assistant, type in a terminal:</source>
        <translation>GPU 助手会先检查所有文件，点“安装”之前不会安装任何东西。要打开 GPU 助手，在终端里输入：</translation>
    </message>
    <message>
        <source>Connect it to the internet once, to install WSL2.</source>
        <translation>联网一次，用来安装 WSL2。</translation>
    </message>
    <message>
        <source>If something does not work</source>
        <translation>遇到问题怎么办</translation>
    </message>
    <message>
        <source>The installer does not open</source>
        <translation>双击打不开安装文件</translation>
    </message>
    <message>
        <source>Open a terminal in the installer's folder and type the command below. Internet is needed only if your Linux lacks required packages.</source>
        <translation>在安装文件所在的文件夹里打开终端，输入下面的命令。只有系统缺少所需软件包时才要联网。</translation>
    </message>
    <message>
        <source>That computer cannot go online at all</source>
        <translation>那台电脑完全不能上网</translation>
    </message>
    <message>
        <source>As a last resort, download NVIDIA's own installer on this computer and take it along. It conflicts with your distribution's driver packages: if you want those later, remove it first.</source>
        <translation>万不得已时，在这台电脑上下载 NVIDIA 自己的安装程序带过去。它与发行版的驱动软件包冲突，以后要改用软件源里的驱动，得先卸载它。</translation>
    </message>
    <message>
        <source>You cannot find “Install from an offline folder”</source>
        <translation>找不到“从离线文件夹安装”</translation>
    </message>
    <message>
        <source>It is also in Settings, under “Without internet”.</source>
        <translation>“设置”里的“没有网络时”下面也有。</translation>
    </message>
    <message>
        <source>The other computer must go online once, to install {what}.</source>
        <translation>另一台电脑要联网一次，用来安装 {what}。</translation>
    </message>
    <message>
        <source>GPU Assistant</source>
        <translation>GPU 助手</translation>
    </message>
    <message>
        <source>the NVIDIA driver</source>
        <translation>NVIDIA 驱动</translation>
    </message>
    <message>
        <source>{first} and {last}</source>
        <translation>{first}、{last}</translation>
    </message>
</context>
<context>
    <name>CreateBundlePage</name>
    <message>
        <source>Show the folder</source>
        <translation>显示文件夹</translation>
    </message>
    <message>
        <source>All the files its setup needs, in one folder for a USB stick or disk.</source>
        <translation>把安装需要的全部文件放进一个文件夹，用 U 盘或硬盘带过去。</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Back to the setup</source>
        <translation>返回安装</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Continue any time, even after a restart.</source>
        <translation>随时可以继续，重启电脑后也可以。</translation>
    </message>
    <message>
        <source>It stops as soon as that is safe.</source>
        <translation>到可以安全停止时就会停下。</translation>
    </message>
    <message>
        <source>Checking this computer…</source>
        <translation>正在检测这台电脑…</translation>
    </message>
    <message>
        <source>Prepare for a computer without internet</source>
        <translation>为不能上网的电脑做准备</translation>
    </message>
    <message>
        <source>Prepare the folder</source>
        <translation>开始准备</translation>
    </message>
    <message>
        <source>Preparing the folder</source>
        <translation>正在准备文件夹</translation>
    </message>
    <message>
        <source>Safe to interrupt</source>
        <translation>可以放心中断</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
    <message>
        <source>Step {n} of {of} · about {time} left. You can keep working, or minimise this window.</source>
        <translation>第 {n} 步，共 {of} 步 · 还需约 {time}。可以继续做别的，也可以把窗口最小化。</translation>
    </message>
    <message>
        <source>Step {n} of {of}. You can keep working, or minimise this window.</source>
        <translation>第 {n} 步，共 {of} 步。可以继续做别的，也可以把窗口最小化。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop here?</source>
        <translation>先停在这里？</translation>
    </message>
    <message>
        <source>You stopped preparing the folder</source>
        <translation>你已停止准备文件夹</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>This folder is not empty</source>
        <translation>这个文件夹不是空的</translation>
    </message>
    <message>
        <source>You can continue later</source>
        <translation>以后可以继续</translation>
    </message>
    <message>
        <source>The folder is not ready</source>
        <translation>文件夹还没有准备好</translation>
    </message>
    <message>
        <source>The folder is ready: {size}</source>
        <translation>文件夹已准备好：{size}</translation>
    </message>
    <message>
        <source>You can continue in the same folder later.</source>
        <translation>以后可以在同一文件夹里接着做。</translation>
    </message>
    <message>
        <source>You can continue in the same folder any time, even tomorrow.</source>
        <translation>以后随时可以在同一文件夹里接着做，明天也行。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再试一次</translation>
    </message>
    <message>
        <source>Your download is kept. Continue any time, even after a restart.</source>
        <translation>已下载的会保留。随时可以继续，重启电脑后也可以。</translation>
    </message>
    <message>
        <source>Your download is kept. You can continue in the same folder later.</source>
        <translation>已下载的会保留，以后可以在同一文件夹里接着做。</translation>
    </message>
    <message>
        <source>Save this computer's details</source>
        <translation>保存这台电脑的描述文件</translation>
    </message>
    <message>
        <source>Choose the other computer's details file</source>
        <translation>选择另一台电脑的描述文件</translation>
    </message>
    <message>
        <source>Choose a folder for the files</source>
        <translation>选择存放文件的文件夹</translation>
    </message>
    <message>
        <source>You can keep working, or minimise this window.</source>
        <translation>可以继续做别的，也可以把窗口最小化。</translation>
    </message>
    <message>
        <source>Choose the folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Choose another folder…</source>
        <translation>换一个文件夹…</translation>
    </message>
    <message>
        <source>Choose its details file…</source>
        <translation>选择它的描述文件…</translation>
    </message>
    <message>
        <source>Choose another file…</source>
        <translation>换一个文件…</translation>
    </message>
</context>
<context>
    <name>DriverButton</name>
    <message>
        <source>Download it from NVIDIA</source>
        <translation>从 NVIDIA 下载</translation>
    </message>
    <message>
        <source>Open NVIDIA's page</source>
        <translation>打开 NVIDIA 页面</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>打开页面</translation>
    </message>
</context>
<context>
    <name>LoadBundlePage</name>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Checking the folder</source>
        <translation>正在检查文件夹</translation>
    </message>
    <message>
        <source>Choose another folder…</source>
        <translation>换一个文件夹…</translation>
    </message>
    <message>
        <source>Choose the folder that was prepared on a computer with internet.</source>
        <translation>选择在能上网的电脑上准备好的文件夹。</translation>
    </message>
    <message>
        <source>Choose the folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Every file is read once. Nothing is changed, and the internet is not used.</source>
        <translation>每个文件都会读一遍。不做任何改动，也不联网。</translation>
    </message>
    <message>
        <source>Nothing chosen yet</source>
        <translation>还没有选择</translation>
    </message>
    <message>
        <source>Install from an offline folder</source>
        <translation>从离线文件夹安装</translation>
    </message>
    <message>
        <source>This folder cannot be used</source>
        <translation>这个文件夹不能用</translation>
    </message>
    <message>
        <source>Choose the offline folder for this computer</source>
        <translation>选择为这台电脑准备的离线文件夹</translation>
    </message>
</context>
<context>
    <name>TargetComputerCard</name>
    <message>
        <source>Another computer</source>
        <translation>另一台电脑</translation>
    </message>
    <message>
        <source>Choose another file…</source>
        <translation>换一个文件…</translation>
    </message>
    <message>
        <source>Which computer is it for?</source>
        <translation>给哪台电脑？</translation>
    </message>
    <message>
        <source>No internet here? Save the details file and take it to a computer with internet.</source>
        <translation>这台电脑不能上网？保存描述文件，带到能上网的电脑上。</translation>
    </message>
    <message>
        <source>On that computer, open this page in GPU Assistant and press “Save this computer's details…”. Then choose that file here: the recommendation is based on it.</source>
        <translation>在那台电脑的 GPU 助手里打开同一页，点“保存这台电脑的描述文件…”。再在这里选择那个文件，推荐方案会以它为准。</translation>
    </message>
    <message>
        <source>Save this computer's details…</source>
        <translation>保存这台电脑的描述文件…</translation>
    </message>
    <message>
        <source>The one in the details file</source>
        <translation>描述文件里的电脑</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>no graphics card</source>
        <translation>没有显卡</translation>
    </message>
    <message>
        <source>{system} · {card} · {what}</source>
        <translation>{system} · {card} · {what}</translation>
    </message>
</context>
</TS>
