<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>BundleFolderCard</name>
    <message>
        <source>About {size}. {line}</source>
        <translation>约 {size}。{line}</translation>
    </message>
    <message>
        <source>Choose an empty or new folder, or one you started earlier to continue it.</source>
        <translation>请选空文件夹或新文件夹；也可以选以前没做完的文件夹，会接着做。</translation>
    </message>
    <message>
        <source>Choose another folder…</source>
        <translation>换一个文件夹…</translation>
    </message>
    <message>
        <source>Choose the folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Folder for the files</source>
        <translation>放到哪个文件夹？</translation>
    </message>
</context>
<context>
    <name>BundleReadyCard</name>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message>
        <source>1. Copy this folder and GPU Assistant's own setup file to a USB stick or disk, and take it there.</source>
        <translation>1. 把这个文件夹和 GPU 助手的安装文件一起拷到 U 盘或硬盘，带到那台电脑。</translation>
    </message>
    <message>
        <source>2. Install GPU Assistant there. It needs no internet either.</source>
        <translation>2. 在那里安装 GPU 助手，也不需要联网。</translation>
    </message>
    <message>
        <source>3. On its first page press “Install from an offline folder” and choose this folder.</source>
        <translation>3. 在它的首页点“从离线文件夹安装”，选择这个文件夹。</translation>
    </message>
    <message>
        <source>Not included: {parts}.</source>
        <translation>不包含：{parts}。</translation>
    </message>
    <message>
        <source>On the other computer</source>
        <translation>在另一台电脑上</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Prepare another one</source>
        <translation>再准备一个</translation>
    </message>
    <message>
        <source>Or on the command line there</source>
        <translation>在那里用命令行也一样</translation>
    </message>
    <message>
        <source>{release} for {computer}, {count} files. Checksum of the list: {mark}</source>
        <translation>{release}，用于 {computer}，共 {count} 个文件。清单的校验值：{mark}</translation>
    </message>
</context>
<context>
    <name>CreateBundlePage</name>
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
        <source>Choose a folder first.</source>
        <translation>请先选择文件夹。</translation>
    </message>
    <message>
        <source>Choose another folder or file.</source>
        <translation>请换一个文件夹或文件。</translation>
    </message>
    <message>
        <source>Choose its details file first.</source>
        <translation>请先选择那台电脑的信息文件。</translation>
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
        <source>It stops at the next safe point.</source>
        <translation>会在下一个安全的地方停下。</translation>
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
        <source>Stopped as you asked</source>
        <translation>已按你的要求停下</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
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
        <translation>保存这台电脑的信息</translation>
    </message>
    <message>
        <source>Choose the other computer's details file</source>
        <translation>选择另一台电脑的信息文件</translation>
    </message>
    <message>
        <source>Choose a folder for the files</source>
        <translation>选择存放文件的文件夹</translation>
    </message>
    <message>
        <source>You can keep working, or minimise this window.</source>
        <translation>可以继续做别的，也可以把窗口最小化。</translation>
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
        <source>Set up from an offline folder</source>
        <translation>用离线文件夹安装</translation>
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
        <source>Choose its details file…</source>
        <translation>选择它的信息文件…</translation>
    </message>
    <message>
        <source>For which computer?</source>
        <translation>给哪台电脑？</translation>
    </message>
    <message>
        <source>No internet here? Save this computer's details as a file and take it to a computer with internet.</source>
        <translation>这台不能上网？把它的信息存成文件，带到能上网的电脑上。</translation>
    </message>
    <message>
        <source>Open GPU Assistant on that computer, go to this page, save its details as a file, and choose that file here. The recommendation is made from the file.</source>
        <translation>在那台电脑上打开 GPU 助手，同样来到这一页，把它的信息存成文件，再在这里选择那个文件，就会按它推荐版本。</translation>
    </message>
    <message>
        <source>Save its details…</source>
        <translation>保存它的信息…</translation>
    </message>
    <message>
        <source>The one in the machine file</source>
        <translation>电脑描述文件里的这台</translation>
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
