<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>BundleControls</name>
    <message>
        <source>For a computer without internet…</source>
        <translation>为不能上网的电脑做准备…</translation>
    </message>
</context>
<context>
    <name>BundleSourceCard</name>
    <message>
        <source>Everything comes from {folder}; no internet is used.</source>
        <translation>全部文件来自 {folder}，不使用网络。</translation>
    </message>
    <message>
        <source>Use the internet instead</source>
        <translation>改为从网上下载</translation>
    </message>
</context>
<context>
    <name>ComputerPage</name>
    <message>
        <source>PyTorch will run on your CPU</source>
        <translation>PyTorch 会用 CPU 运行</translation>
    </message>
    <message>
        <source>Working out how much is needed…</source>
        <translation>正在计算需要多少空间…</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Your card and driver are ready for PyTorch {version}; the newest, {newest}, no longer supports this card.</source>
        <translation>显卡和驱动都不用换，适合 PyTorch {version}；最新的 {newest} 不再支持这张显卡。</translation>
    </message>
    <message>
        <source>Your card and driver are ready.</source>
        <translation>显卡和驱动都合适，不用改动。</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy details</source>
        <translation>复制详情</translation>
    </message>
    <message>
        <source>Good news: this computer can train on its GPU</source>
        <translation>好消息：这台电脑可以用显卡训练</translation>
    </message>
    <message>
        <source>Good to know</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新检测</translation>
    </message>
    <message>
        <source>Checked in {seconds} seconds. Nothing was changed or sent.</source>
        <translation>检测用了 {seconds} 秒，没有改动任何东西，也没有上传任何信息。</translation>
    </message>
    <message>
        <source>Checking this computer</source>
        <translation>正在检测这台电脑</translation>
    </message>
    <message>
        <source>Checking… {seconds} s</source>
        <translation>正在检测… {seconds} 秒</translation>
    </message>
    <message>
        <source>Only the driver is missing; the next page shows which one you need.</source>
        <translation>只是还没有驱动，下一页会说明需要哪一版。</translation>
    </message>
    <message>
        <source>It just needs an older driver, because yours is too new for the card; the next page shows which one.</source>
        <translation>只是驱动太新，不支持这张显卡，下一页会说明退回到哪一版。</translation>
    </message>
    <message>
        <source>Your driver works. A newer one lets you use the newest {tool}.</source>
        <translation>现有驱动能用；更新后可以用最新版 {tool}。</translation>
    </message>
    <message>
        <source>It just needs a newer driver; the next page shows which one.</source>
        <translation>只是驱动太旧，下一页会说明需要哪一版。</translation>
    </message>
    <message>
        <source>PyTorch has a build for this graphics chip.</source>
        <translation>PyTorch 有适合这个图形处理器的版本。</translation>
    </message>
    <message>
        <source>PyTorch works here, but on the CPU only</source>
        <translation>PyTorch 能用，但只能用 CPU</translation>
    </message>
    <message>
        <source>Read from a details file; this computer was not checked.</source>
        <translation>来自电脑描述文件，没有检测这台电脑。</translation>
    </message>
    <message>
        <source>See recommendation</source>
        <translation>查看推荐方案</translation>
    </message>
    <message>
        <source>Takes a few seconds.</source>
        <translation>只要几秒钟。</translation>
    </message>
    <message>
        <source>The PyTorch on this computer already uses it; the next page shows what is newer.</source>
        <translation>电脑上现有的 PyTorch 已经能在显卡上计算；下一页会列出更新的版本。</translation>
    </message>
    <message>
        <source>The disk is too full</source>
        <translation>磁盘空间不够</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>No recommendation yet</source>
        <translation>还没有推荐方案</translation>
    </message>
    <message>
        <source>Card not found?</source>
        <translation>找不到显卡？</translation>
    </message>
    <message>
        <source>Preparing your recommendation</source>
        <translation>正在准备推荐方案</translation>
    </message>
    <message>
        <source>No NVIDIA graphics card was found.</source>
        <translation>没有找到 NVIDIA 显卡。</translation>
    </message>
    <message>
        <source>Your CPU is enough for first steps and small models.</source>
        <translation>你的 CPU 用来入门、跑小模型够用。</translation>
    </message>
    <message>
        <source>Simulated computer</source>
        <translation>模拟的电脑</translation>
    </message>
    <message>
        <source>Good news: it can train on its GPU</source>
        <translation>好消息：它可以用显卡训练</translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message>
        <source>Download: {size}</source>
        <translation>下载：{size}</translation>
    </message>
    <message>
        <source>Disk space: {size}</source>
        <translation>磁盘空间：{size}</translation>
    </message>
    <message>
        <source>About {size} of it is the driver.</source>
        <translation>其中驱动约 {size}。</translation>
    </message>
    <message>
        <source>About {time}</source>
        <translation>约 {time}</translation>
    </message>
    <message>
        <source>All files come from the offline folder.</source>
        <translation>所有文件都来自离线文件夹。</translation>
    </message>
    <message>
        <source>Not included, size unknown: {parts}.</source>
        <translation>未计入（大小未知）：{parts}。</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>还不知道</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>The disk space includes the downloaded files.</source>
        <translation>磁盘空间包含下载的文件。</translation>
    </message>
    <message>
        <source>The download size is an estimate, based on {release}.</source>
        <translation>下载大小根据 {release} 估算。</translation>
    </message>
    <message>
        <source>The exact download size is known after the first step.</source>
        <translation>准确的下载大小要到第一步之后才知道。</translation>
    </message>
    <message>
        <source>The time assumes an internet connection of {mbits} Mbit/s.</source>
        <translation>时间按 {mbits} Mbit/s 的网速估算。</translation>
    </message>
    <message>
        <source>with your disk's speed</source>
        <translation>取决于磁盘</translation>
    </message>
    <message>
        <source>with your internet speed</source>
        <translation>取决于网速</translation>
    </message>
    <message>
        <source>disk space</source>
        <translation>磁盘空间</translation>
    </message>
    <message>
        <source>on {disk} ({size} free)</source>
        <translation>{disk}（剩余 {size}）</translation>
    </message>
    <message>
        <source>or more</source>
        <translation>或更久</translation>
    </message>
    <message>
        <source>plus the driver</source>
        <translation>另加驱动</translation>
    </message>
    <message>
        <source>to download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>to set up</source>
        <translation>安装用时</translation>
    </message>
    <message>
        <source>you install the driver</source>
        <translation>驱动由你安装</translation>
    </message>
    <message>
        <source>{size} + driver</source>
        <translation>{size} + 驱动</translation>
    </message>
    <message>
        <source>{size} + more</source>
        <translation>{size} 以上</translation>
    </message>
    <message>
        <source>Nothing more</source>
        <translation>无需更多空间</translation>
    </message>
    <message>
        <source>Time varies</source>
        <translation>时间不定</translation>
    </message>
    <message>
        <source>needed, {size} free</source>
        <translation>所需空间，剩余 {size}</translation>
    </message>
    <message>
        <source>on {letter}: ({size} free)</source>
        <translation>{letter} 盘，剩余 {size}</translation>
    </message>
</context>
<context>
    <name>CurrentStepPanel</name>
    <message>
        <source>Another download is fetching this file</source>
        <translation>另一个下载正在获取同一个文件</translation>
    </message>
    <message>
        <source>Checking what was downloaded</source>
        <translation>正在核对下载的文件</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Every file must match the official one exactly.</source>
        <translation>每个文件都必须和官方的完全一致。</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>It is used here as soon as it is complete.</source>
        <translation>下载完整后，这里直接使用。</translation>
    </message>
    <message>
        <source>Limited by the download server</source>
        <translation>快慢取决于下载服务器</translation>
    </message>
    <message>
        <source>Limited by your disk</source>
        <translation>快慢取决于磁盘</translation>
    </message>
    <message>
        <source>Limited by your internet connection</source>
        <translation>快慢取决于网络</translation>
    </message>
    <message>
        <source>Limited by your speed limit</source>
        <translation>受你设的限速影响</translation>
    </message>
    <message>
        <source>Loading PyTorch takes longest the first time.</source>
        <translation>第一次加载 PyTorch 最花时间。</translation>
    </message>
    <message>
        <source>Nothing downloaded yet.</source>
        <translation>还没有下载任何数据。</translation>
    </message>
    <message>
        <source>Installing the files</source>
        <translation>正在安装文件</translation>
    </message>
    <message>
        <source>Some data arrived damaged</source>
        <translation>部分数据在传输中损坏</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Speed over the last 90 seconds</source>
        <translation>最近 90 秒的速度</translation>
    </message>
    <message>
        <source>The system is waiting for your answer.</source>
        <translation>系统正在等你回答。</translation>
    </message>
    <message>
        <source>Downloading it again.</source>
        <translation>正在重新下载这些内容。</translation>
    </message>
    <message>
        <source>Trying it out</source>
        <translation>正在试运行</translation>
    </message>
    <message>
        <source>Waiting for your permission</source>
        <translation>正在等你同意</translation>
    </message>
    <message>
        <source>Your download is kept.</source>
        <translation>已下载的会保留。</translation>
    </message>
    <message>
        <source>You set a limit of {speed}.</source>
        <translation>你设的最高速度是 {speed}。</translation>
    </message>
</context>
<context>
    <name>DonePage</name>
    <message>
        <source>All packages are compatible</source>
        <translation>所有软件包互相兼容</translation>
    </message>
    <message>
        <source>All {counted} checks passed</source>
        <translation>{counted} 项检查全部通过</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>CPU calculation</source>
        <translation>CPU 试算结果正确</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新验证</translation>
    </message>
    <message>
        <source>Check it</source>
        <translation>验证一下</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Copies data to the card</source>
        <translation>可以向显卡传数据</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Environment created</source>
        <translation>环境已建好</translation>
    </message>
    <message>
        <source>Watch a small network learn to read digits.</source>
        <translation>看一个小神经网络学会认数字。</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>Go to Home</source>
        <translation>进入首页</translation>
    </message>
    <message>
        <source>Hide the commands</source>
        <translation>收起命令</translation>
    </message>
    <message>
        <source>Hide what was done</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Driver and PyTorch set up and verified.</source>
        <translation>驱动和 PyTorch 都已装好并通过验证。</translation>
    </message>
    <message>
        <source>It could not be verified</source>
        <translation>没能完成验证</translation>
    </message>
    <message>
        <source>It works, but on the CPU</source>
        <translation>能用，但用的是 CPU</translation>
    </message>
    <message>
        <source>Next steps</source>
        <translation>接下来</translation>
    </message>
    <message>
        <source>Not verified yet</source>
        <translation>还没有验证</translation>
    </message>
    <message>
        <source>Nothing was installed: this computer is simulated</source>
        <translation>没有安装任何东西：这是模拟的电脑</translation>
    </message>
    <message>
        <source>PowerShell blocks scripts by default: type this there instead</source>
        <translation>PowerShell 默认不运行脚本，在那里请改用这一行</translation>
    </message>
    <message>
        <source>Checked just now, in its own Python.</source>
        <translation>刚刚用环境里的 Python 验证过。</translation>
    </message>
    <message>
        <source>Checking that it works…</source>
        <translation>正在验证…</translation>
    </message>
    <message>
        <source>PyTorch does not work yet</source>
        <translation>PyTorch 还不能用</translation>
    </message>
    <message>
        <source>Loads PyTorch and runs a calculation; takes a few seconds.</source>
        <translation>加载 PyTorch 并做一次计算，约需几秒。</translation>
    </message>
    <message>
        <source>PyTorch starts</source>
        <translation>PyTorch 可以启动</translation>
    </message>
    <message>
        <source>PyTorch works on your CPU</source>
        <translation>PyTorch 已能在你的 CPU 上运行</translation>
    </message>
    <message>
        <source>PyTorch works on your {gpu}</source>
        <translation>PyTorch 已能在你的 {gpu} 上运行</translation>
    </message>
    <message>
        <source>Python works</source>
        <translation>Python 可以运行</translation>
    </message>
    <message>
        <source>Right PyTorch build</source>
        <translation>PyTorch 的计算平台正确</translation>
    </message>
    <message>
        <source>What was done</source>
        <translation>看看做了什么</translation>
    </message>
    <message>
        <source>TensorFlow starts</source>
        <translation>TensorFlow 可以启动</translation>
    </message>
    <message>
        <source>Test calculation</source>
        <translation>试算结果正确</translation>
    </message>
    <message>
        <source>The proof</source>
        <translation>验证结果</translation>
    </message>
    <message>
        <source>Type this in any terminal</source>
        <translation>在任意终端输入</translation>
    </message>
    <message>
        <source>{passed} of {counted} checks passed</source>
        <translation>{counted} 项检查通过了 {passed} 项</translation>
    </message>
    <message>
        <source>Run my first program</source>
        <translation>运行我的第一个程序</translation>
    </message>
    <message>
        <source>Checks that did not pass are listed first, with what to do. Training works without them.</source>
        <translation>没有通过的检查列在最前面，并附上处理办法。不影响训练。</translation>
    </message>
    <message>
        <source>PyTorch recognises your graphics card</source>
        <translation>PyTorch 已识别你的显卡</translation>
    </message>
    <message>
        <source>One moment, checking…</source>
        <translation>请稍候，正在检查。</translation>
    </message>
    <message>
        <source>NVIDIA's libraries match</source>
        <translation>NVIDIA 的库彼此配套</translation>
    </message>
    <message>
        <source>All files are unchanged</source>
        <translation>所有文件都没有改动</translation>
    </message>
    <message>
        <source>Microsoft's Visual C++ runtime is complete</source>
        <translation>Microsoft Visual C++ 运行库齐全</translation>
    </message>
    <message>
        <source>TensorFlow calculates correctly</source>
        <translation>TensorFlow 计算正确</translation>
    </message>
    <message>
        <source>TensorFlow sees the graphics card</source>
        <translation>TensorFlow 能看到显卡</translation>
    </message>
    <message>
        <source>CUDA compiler starts</source>
        <translation>CUDA 编译器可以启动</translation>
    </message>
    <message>
        <source>C++ compiler for CUDA</source>
        <translation>CUDA 所需的 C++ 编译器</translation>
    </message>
    <message>
        <source>CUDA program compiles</source>
        <translation>CUDA 程序可以编译</translation>
    </message>
    <message>
        <source>Program links with cuDNN</source>
        <translation>程序可以链接 cuDNN</translation>
    </message>
    <message>
        <source>Compiled program calculates correctly</source>
        <translation>编译出的程序计算正确</translation>
    </message>
    <message>
        <source>PyTorch extension builds and works</source>
        <translation>PyTorch 扩展可以构建并运行</translation>
    </message>
    <message>
        <source>matches the CPU</source>
        <translation>与 CPU 一致</translation>
    </message>
    <message>
        <source>matches Python</source>
        <translation>与 Python 一致</translation>
    </message>
    <message>
        <source>{count} files</source>
        <translation>{count} 个文件</translation>
    </message>
    <message>
        <source>PyTorch sees the graphics card</source>
        <translation>PyTorch 能看到显卡</translation>
    </message>
    <message>
        <source>The previous page shows what an installation would do.</source>
        <translation>上一页列出了安装会做的每一步。</translation>
    </message>
    <message>
        <source>Choose this Python in any editor</source>
        <translation>在任意编辑器里选择这个 Python</translation>
    </message>
    <message>
        <source>PyTorch recognises your {gpu}</source>
        <translation>PyTorch 已识别 {gpu}</translation>
    </message>
    <message>
        <source>Graphics driver works</source>
        <translation>显卡驱动工作正常</translation>
    </message>
    <message>
        <source>Less</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Set up in {time}. Nothing else was changed.</source>
        <translation>安装用时 {time}，没有改动其他东西。</translation>
    </message>
    <message>
        <source>Set up and verified. Nothing else was changed.</source>
        <translation>安装和验证都已完成，没有改动电脑上的其他东西。</translation>
    </message>
    <message>
        <source>CUDA works</source>
        <translation>CUDA 可用：在显卡上计算</translation>
    </message>
    <message>
        <source>cuDNN works</source>
        <translation>cuDNN 可用：加速神经网络</translation>
    </message>
    <message>
        <source>Folder, commands and log</source>
        <translation>文件夹、命令和记录</translation>
    </message>
    <message>
        <source>Running the next check…</source>
        <translation>正在进行下一项检查…</translation>
    </message>
</context>
<context>
    <name>DownloadControls</name>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Download resumed.</source>
        <translation>下载已继续。</translation>
    </message>
    <message>
        <source>Download paused.</source>
        <translation>下载已暂停。</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续下载</translation>
    </message>
</context>
<context>
    <name>ErrorPanel</name>
    <message>
        <source>Choose another folder</source>
        <translation>换一个文件夹</translation>
    </message>
    <message>
        <source>What you can do</source>
        <translation>可以这样做</translation>
    </message>
    <message>
        <source>PyTorch {version} was not found for this computer</source>
        <translation>没有找到 PyTorch {version}</translation>
    </message>
    <message>
        <source>Neither {site} nor the general package index has it yet. You can try again later.</source>
        <translation>{site}和通用软件包源目前都没有适合这台电脑的版本，可以过些时候再试。</translation>
    </message>
    <message>
        <source>Nothing was installed.</source>
        <translation>没有安装任何东西。</translation>
    </message>
</context>
<context>
    <name>InstallFolderCard</name>
    <message>
        <source>{name} (default)</source>
        <translation>{name}（不填就用这个名称）</translation>
    </message>
    <message>
        <source>Choose an installation folder</source>
        <translation>选择安装位置</translation>
    </message>
</context>
<context>
    <name>InstallMessages</name>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Choose another folder</source>
        <translation>换一个文件夹</translation>
    </message>
    <message>
        <source>Nothing is lost</source>
        <translation>已完成的都会保留</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再试一次</translation>
    </message>
    <message>
        <source>Use PyTorch {version} instead</source>
        <translation>改用 PyTorch {version}</translation>
    </message>
    <message>
        <source>You can close the window and continue later from the first page of the setup.</source>
        <translation>可以关掉窗口，以后从安装向导的第一页继续。</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>{count} packages</source>
        <translation>{count} 个软件包</translation>
    </message>
    <message>
        <source>Now install the driver</source>
        <translation>现在请安装驱动</translation>
    </message>
    <message>
        <source>Meanwhile, install the driver</source>
        <translation>请趁现在安装驱动</translation>
    </message>
    <message>
        <source>Install the driver, then restart</source>
        <translation>安装驱动，然后重启</translation>
    </message>
    <message>
        <source>The setup continues meanwhile: restart only when this page asks you to.</source>
        <translation>安装会同时继续：等这个页面提示后再重启。</translation>
    </message>
    <message>
        <source>A restart is needed</source>
        <translation>需要重启</translation>
    </message>
    <message>
        <source>Before you restart: read this</source>
        <translation>重启前请先看这里</translation>
    </message>
    <message>
        <source>Do it now or later</source>
        <translation>现在或以后补做</translation>
    </message>
    <message>
        <source>Done, except for what needs your permission</source>
        <translation>已完成，只差需要你同意的部分</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>安装完成</translation>
    </message>
    <message>
        <source>Installing</source>
        <translation>正在安装</translation>
    </message>
    <message>
        <source>Skipped, because administrator rights were refused</source>
        <translation>已跳过，因为没有获得管理员权限</translation>
    </message>
    <message>
        <source>One step is left: {title}.</source>
        <translation>还剩一步：{title}。</translation>
    </message>
    <message>
        <source>Press “Ask again” and agree when the system asks. You can also do it later from the setup's first page. Everything else is done.</source>
        <translation>点“再问一次”，系统询问时选择同意。以后再做也可以，安装向导的首页会提示从这里继续安装。其他步骤都已完成，不受影响。</translation>
    </message>
    <message>
        <source>Restart now or later</source>
        <translation>现在或稍后重启</translation>
    </message>
    <message>
        <source>Safe to interrupt</source>
        <translation>可以放心中断</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Installation stopped</source>
        <translation>安装没有完成</translation>
    </message>
    <message>
        <source>Next time, the setup continues from here.</source>
        <translation>下次会从这里继续安装。</translation>
    </message>
    <message>
        <source>Your download is kept.</source>
        <translation>已下载的会保留。</translation>
    </message>
    <message>
        <source>Your download is kept; next time, the setup continues from here.</source>
        <translation>已下载的会保留，下次会从这里继续安装。</translation>
    </message>
    <message>
        <source>{done} of {total} downloaded</source>
        <translation>已下载 {done}，共 {total}</translation>
    </message>
    <message>
        <source>{n} steps are left; the first is: {title}.</source>
        <translation>还剩 {n} 步，下一步是：{title}。</translation>
    </message>
    <message>
        <source>Your download is kept</source>
        <translation>已下载的会保留</translation>
    </message>
    <message>
        <source>Nothing was downloaded yet</source>
        <translation>还没有下载任何内容</translation>
    </message>
    <message>
        <source>You can continue later</source>
        <translation>以后可以继续</translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>约 {time}</translation>
    </message>
    <message>
        <source>Restart the computer</source>
        <translation>重启电脑</translation>
    </message>
    <message>
        <source>{size} to download</source>
        <translation>{size}（下载）</translation>
    </message>
    <message>
        <source>You stopped the installation</source>
        <translation>你已停止安装</translation>
    </message>
    <message>
        <source>Nothing is installed yet. Your download is kept, even if you go back; you can continue later from the first page of the setup.</source>
        <translation>目前还没有安装任何东西。返回也不会丢掉已下载的内容，以后可以从安装向导的第一页继续。</translation>
    </message>
</context>
<context>
    <name>InstallPage</name>
    <message>
        <source>Ask again</source>
        <translation>再问一次</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续安装</translation>
    </message>
    <message>
        <source>Continue installing</source>
        <translation>继续安装</translation>
    </message>
    <message>
        <source>It stops as soon as that is safe.</source>
        <translation>到可以安全停止时就会停下。</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Preview only: nothing was executed.</source>
        <translation>只是预览，没有执行任何操作。</translation>
    </message>
    <message>
        <source>Step {n} of {of} · about {time} left. You can minimise this window.</source>
        <translation>第 {n} 步，共 {of} 步 · 还需约 {time}。可以把窗口最小化。</translation>
    </message>
    <message>
        <source>Step {n} of {of}. You can minimise this window.</source>
        <translation>第 {n} 步，共 {of} 步。可以把窗口最小化。</translation>
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
        <source>This is what an installation would do</source>
        <translation>真正安装时会做这些</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再试一次</translation>
    </message>
    <message>
        <source>Step {n} of {of}: {title}</source>
        <translation>第 {n} 步，共 {of} 步：{title}</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Step {n} of {of} · about {time} left, plus the driver. You can minimise this window.</source>
        <translation>第 {n} 步，共 {of} 步 · 还需约 {time}，另加驱动。可以把窗口最小化。</translation>
    </message>
    <message>
        <source>Step {n} of {of} · more than {time} left. You can minimise this window.</source>
        <translation>第 {n} 步，共 {of} 步 · 至少还需 {time}。可以把窗口最小化。</translation>
    </message>
    <message>
        <source>due now</source>
        <translation>现在重启</translation>
    </message>
    <message>
        <source>{title}. {text}</source>
        <translation>{title}。{text}</translation>
    </message>
    <message>
        <source>You choose when; setup then continues.</source>
        <translation>什么时候重启由你定，重启后继续安装。</translation>
    </message>
</context>
<context>
    <name>MachineSummary</name>
    <message>
        <source> and {n} more</source>
        <translation>，另有 {n} 个</translation>
    </message>
    <message>
        <source>64-bit</source>
        <translation>64 位</translation>
    </message>
    <message>
        <source>64-bit ARM</source>
        <translation>64 位 ARM</translation>
    </message>
    <message>
        <source>This is a laptop: keep it plugged in while training, or it slows down.</source>
        <translation>这是笔记本电脑：训练时插上电源，否则会变慢。</translation>
    </message>
    <message>
        <source>This is a virtual machine: it sees only the graphics cards that its host passes through.</source>
        <translation>这是虚拟机：只能用宿主机分配给它的显卡。</translation>
    </message>
    <message>
        <source>CUDA up to {version}</source>
        <translation>最高 CUDA {version}</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>Graphics driver</source>
        <translation>显卡驱动</translation>
    </message>
    <message>
        <source>This is Linux inside Windows (WSL): it uses the graphics driver installed in Windows.</source>
        <translation>这是 Windows 里的 Linux（WSL）：用的是 Windows 里安装的显卡驱动。</translation>
    </message>
    <message>
        <source>Neither yet</source>
        <translation>都还没有</translation>
    </message>
    <message>
        <source>No NVIDIA graphics card</source>
        <translation>没有 NVIDIA 显卡</translation>
    </message>
    <message>
        <source>No NVIDIA driver is running</source>
        <translation>没有运行 NVIDIA 驱动</translation>
    </message>
    <message>
        <source>OneDrive syncs {folders}. Install somewhere else, or it will upload tens of thousands of small files.</source>
        <translation>OneDrive 会同步 {folders}。安装到别处，否则它会上传几万个小文件。</translation>
    </message>
    <message>
        <source>PyTorch and Python</source>
        <translation>PyTorch 和 Python</translation>
    </message>
    <message>
        <source>PyTorch {torch} on Python {version}</source>
        <translation>PyTorch {torch}（Python {version}）</translation>
    </message>
    <message>
        <source>Python is included</source>
        <translation>会一起装上 Python</translation>
    </message>
    <message>
        <source>No PyTorch yet</source>
        <translation>还没有 PyTorch</translation>
    </message>
    <message>
        <source>Secure Boot is on: this system loads the NVIDIA driver only if it is signed with a key that the computer trusts. Use your distribution's driver, which handles that.</source>
        <translation>安全启动已开启：系统只加载用电脑信任的密钥签名的 NVIDIA 驱动。请使用发行版提供的驱动，它会处理签名。</translation>
    </message>
    <message>
        <source>Smart App Control is on: Windows blocks files that Microsoft does not recognise, possibly including parts of PyTorch, and allows no exceptions. If a step or a check says that something was blocked, this is why; Windows Security shows it under “App &amp; browser control”.</source>
        <translation>“智能应用控制”已开启：Windows 会拦截 Microsoft 无法识别的文件，其中可能包括 PyTorch 的一部分，而且不能单独放行。如果某个步骤或检查提示被拦截，就是这个原因。可以在“Windows 安全中心”的“应用和浏览器控制”中查看。</translation>
    </message>
    <message>
        <source>Disk space</source>
        <translation>磁盘空间</translation>
    </message>
    <message>
        <source>System</source>
        <translation>系统</translation>
    </message>
    <message>
        <source>The CUDA Toolkit (for compiling CUDA programs) in {path} has no compiler. PyTorch does not use it and works without it; other programs that look for it there may fail.</source>
        <translation>{path} 里的 CUDA Toolkit（编译 CUDA 程序用）缺少编译器。PyTorch 不用它，没有它也能用；要用它的其他程序可能会出错。</translation>
    </message>
    <message>
        <source>The PyTorch in {path} does not start. We leave it alone and install another one separately.</source>
        <translation>{path} 里的 PyTorch 无法启动。我们不动它，另外装一份。</translation>
    </message>
    <message>
        <source>The path of your user folder is too long to install packages inside it. On the next page, choose a folder with a short path, such as one at the top of a disk.</source>
        <translation>用户文件夹的路径太长，里面放不下软件包。可在下一页选一个短路径的文件夹，比如直接建在磁盘根目录下。</translation>
    </message>
    <message>
        <source>The system did not report it.</source>
        <translation>系统没有报告。</translation>
    </message>
    <message>
        <source>The version of the CUDA Toolkit (for compiling CUDA programs) in {path} cannot be found. PyTorch does not use it and works without it.</source>
        <translation>找不到 {path} 里 CUDA Toolkit（编译 CUDA 程序用）的版本。PyTorch 不用它，没有它也能用。</translation>
    </message>
    <message>
        <source>This could not be read, so it is treated as unknown.</source>
        <translation>这一项没读到，先按未知处理。</translation>
    </message>
    <message>
        <source>You are using this computer over remote desktop. Everything runs as usual; stay signed in.</source>
        <translation>你正通过远程桌面使用这台电脑。运行不受影响，期间请保持登录。</translation>
    </message>
    <message>
        <source>Your user folder's name has non-English characters. Some programs fail because of that; if one does, choose another folder on the next page.</source>
        <translation>用户文件夹的名字里有英文以外的字符，有些程序会因此出错；如果遇到，可在下一页换一个文件夹。</translation>
    </message>
    <message>
        <source>an unnamed card</source>
        <translation>一张没有名称的显卡</translation>
    </message>
    <message>
        <source>about {size} needed</source>
        <translation>约需 {size}</translation>
    </message>
    <message>
        <source>also {names}</source>
        <translation>还有 {names}</translation>
    </message>
    <message>
        <source>and {name}</source>
        <translation>还有 {name}</translation>
    </message>
    <message>
        <source>build {number}</source>
        <translation>内部版本 {number}</translation>
    </message>
    <message>
        <source>conda {version} is on this computer. It is left alone; what you install here is separate from it.</source>
        <translation>这台电脑上有 conda {version}。从这里安装的内容与它互不影响，它保持不变。</translation>
    </message>
    <message>
        <source>could not be read</source>
        <translation>读不到</translation>
    </message>
    <message>
        <source>Fine</source>
        <translation>没问题</translation>
    </message>
    <message>
        <source>Works with PyTorch</source>
        <translation>可用于 PyTorch</translation>
    </message>
    <message>
        <source>Missing</source>
        <translation>没有</translation>
    </message>
    <message>
        <source>May not be enough</source>
        <translation>可能不够</translation>
    </message>
    <message>
        <source>Not read</source>
        <translation>没读到</translation>
    </message>
    <message>
        <source>Not used</source>
        <translation>用不到</translation>
    </message>
    <message>
        <source>Restart pending</source>
        <translation>等待重启</translation>
    </message>
    <message>
        <source>stays as it is</source>
        <translation>不会改动</translation>
    </message>
    <message>
        <source>Too little</source>
        <translation>不够</translation>
    </message>
    <message>
        <source>Too new for the card</source>
        <translation>对这张显卡太新</translation>
    </message>
    <message>
        <source>Update recommended</source>
        <translation>建议更新</translation>
    </message>
    <message>
        <source>Update needed</source>
        <translation>需要更新</translation>
    </message>
    <message>
        <source>{size} RAM</source>
        <translation>{size} 内存</translation>
    </message>
    <message>
        <source>{size} free on {disk}</source>
        <translation>{disk} 剩余 {size}</translation>
    </message>
    <message>
        <source>{size} needed</source>
        <translation>需要 {size}</translation>
    </message>
    <message>
        <source>{size} free</source>
        <translation>剩余 {size}</translation>
    </message>
    <message>
        <source>Processor (CPU)</source>
        <translation>处理器（CPU）</translation>
    </message>
    <message>
        <source>{n} cores</source>
        <translation>{n} 核</translation>
    </message>
    <message>
        <source>{size} free on {letter}:</source>
        <translation>{letter} 盘剩余 {size}</translation>
    </message>
    <message>
        <source>too old for {program} {version}</source>
        <translation>不支持 {program} {version}</translation>
    </message>
    <message>
        <source>{size} memory</source>
        <translation>{size} 显存</translation>
    </message>
    <message>
        <source>your Python {version} stays</source>
        <translation>你的 Python {version} 不会改动</translation>
    </message>
    <message>
        <source>Will be installed</source>
        <translation>待安装</translation>
    </message>
</context>
<context>
    <name>MoreOptions</name>
    <message>
        <source>Fewer options</source>
        <translation>收起选项</translation>
    </message>
    <message>
        <source>More options</source>
        <translation>更多选项</translation>
    </message>
</context>
<context>
    <name>NoticesCard</name>
    <message>
        <source>Changed: {changes}</source>
        <translation>已改动：{changes}</translation>
    </message>
    <message>
        <source>Download it from NVIDIA</source>
        <translation>从 NVIDIA 下载</translation>
    </message>
    <message>
        <source>Open NVIDIA's page</source>
        <translation>打开 NVIDIA 页面</translation>
    </message>
    <message>
        <source>Install NVIDIA driver {version} yourself first, then check again. Without it, the setup stops before its last step, which checks that everything works, and continues from there later.</source>
        <translation>请先自己安装 NVIDIA 驱动 {version}，然后重新检测。没有驱动，安装会停在最后一步“验证”，装好后再从那里继续。</translation>
    </message>
    <message>
        <source>Install NVIDIA driver {version} yourself, then check again. Until then PyTorch cannot use the card.</source>
        <translation>请自己安装 NVIDIA 驱动 {version}，然后重新检测。在此之前 PyTorch 用不了这张卡。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>These cannot be installed from here yet: {parts}. Get them from their makers; the plan sets up the rest.</source>
        <translation>{parts}：目前还不能从这里安装。这个计划会装好其余部分，这几样可从官网安装。</translation>
    </message>
    <message>
        <source>{version} or newer</source>
        <translation>{version} 或更新版</translation>
    </message>
    <message>
        <source>{version} or newer (but older than {limit})</source>
        <translation>{version} 或更高、但低于 {limit} 的版本</translation>
    </message>
</context>
<context>
    <name>OptionsBar</name>
    <message>
        <source>PyTorch, TensorFlow and the CUDA Toolkit; takes the most space</source>
        <translation>PyTorch、TensorFlow 和 CUDA Toolkit 都装，占空间最多</translation>
    </message>
    <message>
        <source>CUDA development</source>
        <translation>CUDA 开发</translation>
    </message>
    <message>
        <source>Customise</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>For a course or project that asks for TensorFlow</source>
        <translation>课程或项目指定用 TensorFlow 时选它</translation>
    </message>
    <message>
        <source>Created by your conda, with Python from conda-forge; base stays as it is</source>
        <translation>由你的 conda 创建，Python 取自 conda-forge；base 环境不变</translation>
    </message>
    <message>
        <source>Python's own kind, used in most guides</source>
        <translation>Python 自带的环境，各种教程都用它</translation>
    </message>
    <message>
        <source>Ready for the newest games: the choice if you also play</source>
        <translation>最先适配新游戏：也玩游戏的人选它</translation>
    </message>
    <message>
        <source>Reset to recommended</source>
        <translation>恢复推荐</translation>
    </message>
    <message>
        <source>Tested longer: the safe choice for this kind of work</source>
        <translation>测试更久，做深度学习更稳</translation>
    </message>
    <message>
        <source>Train and run models: what most people want</source>
        <translation>训练和运行模型，大多数人选它</translation>
    </message>
    <message>
        <source>Goal</source>
        <translation>用途</translation>
    </message>
    <message>
        <source>Environment type</source>
        <translation>环境类型</translation>
    </message>
    <message>
        <source>Driver type</source>
        <translation>驱动类型</translation>
    </message>
    <message>
        <source>Write and compile GPU programs yourself: adds the CUDA Toolkit and cuDNN</source>
        <translation>自己编写和编译显卡程序，会加装 CUDA Toolkit 和 cuDNN</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
</context>
<context>
    <name>PartSummary</name>
    <message>
        <source>with CUDA and cuDNN</source>
        <translation>自带 CUDA 和 cuDNN</translation>
    </message>
    <message>
        <source>CUDA up to {version}</source>
        <translation>最高 CUDA {version}</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>退回旧版</translation>
    </message>
    <message>
        <source>Google's toolbox to train models with</source>
        <translation>Google 的模型训练工具箱</translation>
    </message>
    <message>
        <source>Graphics driver</source>
        <translation>显卡驱动</translation>
    </message>
    <message>
        <source>Included</source>
        <translation>已包含</translation>
    </message>
    <message>
        <source>Included in PyTorch</source>
        <translation>随 PyTorch 自带</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Lets {system} talk to the card</source>
        <translation>让 {system} 用上显卡</translation>
    </message>
    <message>
        <source>NVIDIA's fast building blocks for neural networks</source>
        <translation>NVIDIA 的神经网络加速组件</translation>
    </message>
    <message>
        <source>Not available</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>Not needed</source>
        <translation>不需要</translation>
    </message>
    <message>
        <source>Stays as it is</source>
        <translation>保持不变</translation>
    </message>
    <message>
        <source>Lets programs run calculations on an NVIDIA card</source>
        <translation>让程序在 NVIDIA 显卡上做计算</translation>
    </message>
    <message>
        <source>The toolbox you train models with</source>
        <translation>训练模型用的工具箱</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Windows' own, which lets Linux talk to the card</source>
        <translation>Windows 的驱动，让 Linux 能与显卡通信</translation>
    </message>
    <message>
        <source>with the toolkit</source>
        <translation>和工具包一起安装</translation>
    </message>
    <message>
        <source>separately</source>
        <translation>单独安装</translation>
    </message>
    <message>
        <source>in another folder; stays</source>
        <translation>在别处，保留</translation>
    </message>
    <message>
        <source>exact version shown afterwards</source>
        <translation>装好后显示版本</translation>
    </message>
    <message>
        <source>for the CPU</source>
        <translation>CPU 版</translation>
    </message>
    <message>
        <source>included in PyTorch</source>
        <translation>随 PyTorch 自带</translation>
    </message>
    <message>
        <source>included in TensorFlow</source>
        <translation>随 TensorFlow 自带</translation>
    </message>
    <message>
        <source>no NVIDIA card</source>
        <translation>没有 NVIDIA 显卡</translation>
    </message>
    <message>
        <source>not running</source>
        <translation>没有运行</translation>
    </message>
    <message>
        <source>not installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>not checked</source>
        <translation>未检测</translation>
    </message>
    <message>
        <source>or newer</source>
        <translation>及以上</translation>
    </message>
    <message>
        <source>or newer, but older than {version}</source>
        <translation>或更高，但低于 {version}</translation>
    </message>
    <message>
        <source>or your system's own</source>
        <translation>或系统自带的版本</translation>
    </message>
    <message>
        <source>stays</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>toolkit</source>
        <translation>工具包</translation>
    </message>
    <message>
        <source>toolkit without its compiler; stays</source>
        <translation>工具包，缺少编译器，保留</translation>
    </message>
    <message>
        <source>toolkit, stays</source>
        <translation>工具包，保留</translation>
    </message>
    <message>
        <source>toolkit, for compiling</source>
        <translation>工具包，编译用</translation>
    </message>
    <message>
        <source>you install it</source>
        <translation>由你安装</translation>
    </message>
    <message>
        <source>with {build}</source>
        <translation>自带 {build}</translation>
    </message>
    <message>
        <source>with {cuda} and cuDNN</source>
        <translation>自带 {cuda} 和 cuDNN</translation>
    </message>
    <message>
        <source>too old for {version}</source>
        <translation>不支持 {version}</translation>
    </message>
    <message>
        <source>too new</source>
        <translation>太新</translation>
    </message>
    <message>
        <source>{kind} driver</source>
        <translation>{kind} 驱动</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>显卡驱动</translation>
    </message>
</context>
<context>
    <name>PlanList</name>
    <message>
        <source>As a JSON file, to be read or carried out elsewhere.</source>
        <translation>保存为 JSON 文件，可以查看，也可以在别处执行。</translation>
    </message>
    <message>
        <source>Save the plan</source>
        <translation>保存计划</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
    <message>
        <source>The same on the command line</source>
        <translation>用命令行做同样的事</translation>
    </message>
    <message>
        <source>The same on the command line, once the plan is saved</source>
        <translation>保存计划后，用命令行也能做同样的事</translation>
    </message>
    <message>
        <source>Save plan</source>
        <translation>保存计划</translation>
    </message>
    <message>
        <source>Restart the computer</source>
        <translation>重启电脑</translation>
    </message>
    <message>
        <source>Setup continues afterwards.</source>
        <translation>重启后继续安装。</translation>
    </message>
</context>
<context>
    <name>PlanRow</name>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Files from the internet</source>
        <translation>要下载的文件</translation>
    </message>
    <message>
        <source>How to undo it</source>
        <translation>怎样撤销</translation>
    </message>
    <message>
        <source>The exact command</source>
        <translation>具体命令</translation>
    </message>
    <message>
        <source>The other way</source>
        <translation>另一种方式</translation>
    </message>
    <message>
        <source>Contents of requirements.in</source>
        <translation>requirements.in 的内容</translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation>这些词是什么意思</translation>
    </message>
    <message>
        <source>Where to get it</source>
        <translation>从哪里获取</translation>
    </message>
    <message>
        <source>shows an administrator prompt</source>
        <translation>需管理员确认</translation>
    </message>
    <message>
        <source>collapsed</source>
        <translation>已收起</translation>
    </message>
    <message>
        <source>expanded</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>{size} on disk</source>
        <translation>占用磁盘 {size}</translation>
    </message>
</context>
<context>
    <name>QuickBenchmarkCard</name>
    <message>
        <source>Enough for small models; large ones need a graphics card.</source>
        <translation>训练小模型够用，大模型需要显卡。</translation>
    </message>
    <message>
        <source>Open Benchmark</source>
        <translation>打开测速</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Run benchmark</source>
        <translation>开始测速</translation>
    </message>
    <message>
        <source>Starting PyTorch…</source>
        <translation>正在启动 PyTorch…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Takes about a minute.</source>
        <translation>约需 1 分钟。</translation>
    </message>
    <message>
        <source>The fan may get loud.</source>
        <translation>风扇可能会变响。</translation>
    </message>
    <message>
        <source>How fast is the card, and how much faster than your CPU?</source>
        <translation>这张显卡有多快？
比 CPU 快多少？</translation>
    </message>
    <message>
        <source>How fast is PyTorch on your CPU?</source>
        <translation>PyTorch 在这台电脑的 CPU 上有多快？</translation>
    </message>
    <message>
        <source>as fast as your CPU</source>
        <translation>相对 CPU 的训练速度</translation>
    </message>
    <message>
        <source>to train on {total} images</source>
        <translation>训练 {total} 张图片</translation>
    </message>
    <message>
        <source>{workload} ({what})</source>
        <translation>{workload}（{what}）</translation>
    </message>
</context>
<context>
    <name>RecommendationPage</name>
    <message>
        <source>The newest PyTorch, {version}, needs a newer driver.</source>
        <translation>最新版 PyTorch {version} 需要更新驱动。</translation>
    </message>
    <message>
        <source>After setup</source>
        <translation>安装后</translation>
    </message>
    <message>
        <source>Checking the downloads first…</source>
        <translation>先确认文件能否下载…</translation>
    </message>
    <message>
        <source>This cannot be downloaded right now</source>
        <translation>现在下载不到</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Back to the recommendation</source>
        <translation>恢复推荐方案</translation>
    </message>
    <message>
        <source>Check it</source>
        <translation>验证一下</translation>
    </message>
    <message>
        <source>Choose another folder</source>
        <translation>换一个文件夹</translation>
    </message>
    <message>
        <source>Hide the steps</source>
        <translation>收起步骤</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Installed into</source>
        <translation>安装到</translation>
    </message>
    <message>
        <source>Nothing is changed before you press Install.</source>
        <translation>点“安装”之前，不会改动任何东西。</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Set up PyTorch instead</source>
        <translation>改为安装 PyTorch</translation>
    </message>
    <message>
        <source>Show all {n} steps</source>
        <translation>查看全部 {n} 步</translation>
    </message>
    <message>
        <source>The PyTorch on this computer already works, so you do not need to do anything. This is optional.</source>
        <translation>电脑上现有的 PyTorch 已经能用，什么都不用做。以下只是可选项。</translation>
    </message>
    <message>
        <source>This choice does not work here</source>
        <translation>这台电脑不支持这个选择</translation>
    </message>
    <message>
        <source>This folder cannot be used</source>
        <translation>这个文件夹不能用</translation>
    </message>
    <message>
        <source>This has to be set up by hand</source>
        <translation>需要你手动安装</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再试一次</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Recommended for this computer</source>
        <translation>为这台电脑推荐的版本</translation>
    </message>
    <message>
        <source>Recommended for your {gpu}</source>
        <translation>为你的 {gpu} 推荐的版本</translation>
    </message>
    <message>
        <source>Preparing your recommendation</source>
        <translation>正在准备推荐方案</translation>
    </message>
    <message>
        <source>You have everything you need</source>
        <translation>需要的都已装好</translation>
    </message>
    <message>
        <source>{part}: now {now}, after {after}, {what}</source>
        <translation>{part}：现在 {now}，安装后 {after}，{what}</translation>
    </message>
    <message>
        <source>{tool} runs on the CPU here; your {gpu} is not used.</source>
        <translation>{tool} 会用 CPU 计算，不会用到你的 {gpu}。</translation>
    </message>
    <message>
        <source>Environment name</source>
        <translation>环境名称</translation>
    </message>
    <message>
        <source>The folder you chose cannot be used.</source>
        <translation>你选的文件夹不能用，安装位置没变。</translation>
    </message>
    <message>
        <source>You need {size} more disk space.</source>
        <translation>磁盘空间还差 {size}。</translation>
    </message>
    <message>
        <source>No recommendation could be made</source>
        <translation>没能得出推荐方案</translation>
    </message>
    <message>
        <source>Download, disk space and time</source>
        <translation>下载、磁盘空间和时间</translation>
    </message>
    <message>
        <source>Hide the reasons</source>
        <translation>收起理由</translation>
    </message>
    <message>
        <source>Why this?</source>
        <translation>为什么这样推荐</translation>
    </message>
    <message>
        <source>Not enough disk space</source>
        <translation>磁盘空间不够</translation>
    </message>
    <message>
        <source>Custom setup for this computer</source>
        <translation>这台电脑的自定义方案</translation>
    </message>
    <message>
        <source>Custom setup for your {gpu}</source>
        <translation>{gpu} 的自定义方案</translation>
    </message>
    <message>
        <source>This setup cannot be installed yet</source>
        <translation>这个方案暂时无法安装</translation>
    </message>
    <message>
        <source>Without TensorFlow, only {size} is needed.</source>
        <translation>不装 TensorFlow 只需 {size}。</translation>
    </message>
    <message>
        <source>Leave out TensorFlow</source>
        <translation>不装 TensorFlow</translation>
    </message>
    <message>
        <source>Without the CUDA Toolkit, only {size} is needed.</source>
        <translation>不装 CUDA Toolkit 只需 {size}。</translation>
    </message>
    <message>
        <source>Leave out the CUDA Toolkit</source>
        <translation>不装 CUDA Toolkit</translation>
    </message>
    <message>
        <source>PyTorch alone needs {size}.</source>
        <translation>只装 PyTorch 需要 {size}。</translation>
    </message>
    <message>
        <source>Set up only PyTorch</source>
        <translation>只装 PyTorch</translation>
    </message>
    <message>
        <source>Our recommendation needs {size}.</source>
        <translation>推荐方案需要 {size}。</translation>
    </message>
</context>
<context>
    <name>SourceCheckRow</name>
    <message>
        <source>Checking that everything can be downloaded…</source>
        <translation>正在确认文件能否下载…</translation>
    </message>
    <message>
        <source>No answer yet, still waiting…</source>
        <translation>还没有响应，仍在等待…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Not checked yet whether everything can be downloaded.</source>
        <translation>还没有确认文件能否下载。</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>确认一下</translation>
    </message>
    <message>
        <source>Checked: everything can be downloaded.</source>
        <translation>已确认：文件都能下载。</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新确认</translation>
    </message>
</context>
<context>
    <name>SpeedLimitPicker</name>
    <message>
        <source>None</source>
        <translation>不限速</translation>
    </message>
    <message>
        <source>At most {count} MB/s</source>
        <translation>最高 {count} MB/s</translation>
    </message>
    <message>
        <source>Speed limit</source>
        <translation>下载限速</translation>
    </message>
    <message>
        <source>Speed limit: none</source>
        <translation>下载限速：无</translation>
    </message>
</context>
<context>
    <name>VersionPickers</name>
    <message>
        <source>Recommended</source>
        <translation>推荐</translation>
    </message>
    <message>
        <source>Recommended: {versions}</source>
        <translation>推荐：{versions}</translation>
    </message>
    <message>
        <source>Fits your other choices</source>
        <translation>与你的其他选择兼容</translation>
    </message>
    <message>
        <source>Recommended with your other choices: {versions}</source>
        <translation>按你的其他选择推荐：{versions}</translation>
    </message>
    <message>
        <source>; </source>
        <translation>；</translation>
    </message>
    <message>
        <source>As recommended ({version})</source>
        <translation>按推荐（{version}）</translation>
    </message>
    <message>
        <source>Recommendation restored</source>
        <translation>已恢复推荐方案</translation>
    </message>
    <message>
        <source>Build</source>
        <translation>计算平台</translation>
    </message>
    <message>
        <source>Not available: {why}.</source>
        <translation>不能选：{why}。</translation>
    </message>
    <message>
        <source>Changed along with it: {changes}</source>
        <translation>同时改变：{changes}</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>驱动</translation>
    </message>
    <message>
        <source>Dropped: {picks}</source>
        <translation>已取消：{picks}</translation>
    </message>
    <message>
        <source>Dropped: {picks}. Your other choices stay.</source>
        <translation>已取消：{picks}。其余选择不变。</translation>
    </message>
    <message>
        <source>How to install it</source>
        <translation>安装方式</translation>
    </message>
    <message>
        <source>Instead: {version}</source>
        <translation>改为：{version}</translation>
    </message>
    <message>
        <source>Keep the current one</source>
        <translation>保留现有驱动</translation>
    </message>
    <message>
        <source>Keep {version}</source>
        <translation>保留 {version}</translation>
    </message>
    <message>
        <source>Some of your choices do not work together</source>
        <translation>有些选择不适合</translation>
    </message>
    <message>
        <source>the way “{name}”</source>
        <translation>“{name}”的装法</translation>
    </message>
    <message>
        <source>Into the environment (no prompt)</source>
        <translation>装进环境，无需管理员权限</translation>
    </message>
    <message>
        <source>Nothing extra</source>
        <translation>不额外安装</translation>
    </message>
    <message>
        <source>What fits your other choices ({version})</source>
        <translation>与你的其他选择兼容（{version}）</translation>
    </message>
    <message>
        <source>With NVIDIA's installer</source>
        <translation>用 NVIDIA 的安装程序</translation>
    </message>
    <message>
        <source>Into your own folder (no prompt)</source>
        <translation>装进自己的文件夹，无需管理员权限</translation>
    </message>
    <message>
        <source>{version} is not available: {why}.</source>
        <translation>不能选 {version}：{why}。</translation>
    </message>
    <message>
        <source>{version} is not available: {why}; the newest that is available is {newest}.</source>
        <translation>不能选 {version}：{why}；能选的最新版是 {newest}。</translation>
    </message>
    <message>
        <source>{version}, the rest as recommended</source>
        <translation>{version}，其余按推荐</translation>
    </message>
    <message>
        <source>“{words}”</source>
        <translation>“{words}”</translation>
    </message>
</context>
<context>
    <name>WayCards</name>
    <message>
        <source>Recommended</source>
        <translation>推荐</translation>
    </message>
    <message>
        <source>Two ways to set this up</source>
        <translation>两种装法</translation>
    </message>
</context>
<context>
    <name>WelcomePage</name>
    <message>
        <source>Continue</source>
        <translation>继续安装</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Nothing is changed before you agree. Nothing about you is sent anywhere.</source>
        <translation>你同意之前什么都不改，也不上传任何信息。</translation>
    </message>
    <message>
        <source>Just look at my GPU</source>
        <translation>只看看我的显卡</translation>
    </message>
    <message>
        <source>Folder: {folder}</source>
        <translation>文件夹：{folder}</translation>
    </message>
    <message>
        <source>Welcome back</source>
        <translation>欢迎回来</translation>
    </message>
    <message>
        <source>Start a new setup</source>
        <translation>重新开始配置</translation>
    </message>
    <message>
        <source>Continue the last installation?</source>
        <translation>继续上次的安装？</translation>
    </message>
    <message>
        <source>Continue installing PyTorch {version}?</source>
        <translation>继续安装 PyTorch {version}？</translation>
    </message>
    <message>
        <source>Set up my GPU</source>
        <translation>配置我的显卡</translation>
    </message>
    <message>
        <source>The computer needed a restart after step {n} of {of}: {title}.</source>
        <translation>上次在第 {n} 步（共 {of} 步）之后需要重启电脑：{title}。</translation>
    </message>
    <message>
        <source>Last time it stopped at step {n} of {of}: {title}.</source>
        <translation>上次停在第 {n} 步（共 {of} 步）：{title}。</translation>
    </message>
    <message>
        <source>It was not finished last time.</source>
        <translation>上次没有装完。</translation>
    </message>
    <message>
        <source>Your download is kept.</source>
        <translation>已下载的会保留。</translation>
    </message>
    <message>
        <source>No internet here? Install from an offline folder</source>
        <translation>这台电脑没有网络？从离线文件夹安装</translation>
    </message>
    <message>
        <source>Set up your GPU for deep learning</source>
        <translation>让你的显卡开始跑深度学习</translation>
    </message>
    <message>
        <source>We prove it works</source>
        <translation>验证真的能用</translation>
    </message>
    <message>
        <source>Then we install</source>
        <translation>你同意后再安装</translation>
    </message>
    <message>
        <source>We check first</source>
        <translation>先检测电脑</translation>
    </message>
    <message>
        <source>Graphics card, driver and disk space.</source>
        <translation>看看显卡、驱动和磁盘空间。</translation>
    </message>
    <message>
        <source>The right driver and PyTorch for it. About 10 minutes, mostly downloading.</source>
        <translation>装上合适的驱动和 PyTorch。约 10 分钟，主要是下载。</translation>
    </message>
    <message>
        <source>With a real calculation on your card.</source>
        <translation>在你的显卡上实际算一次。</translation>
    </message>
</context>
<context>
    <name>Wizard</name>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Download and set up</source>
        <translation>下载并装好</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Recommendation</source>
        <translation>推荐方案</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>安装向导</translation>
    </message>
    <message>
        <source>Simulated computer: {name}. Nothing is executed.</source>
        <translation>模拟的电脑：{name}。不会执行任何操作。</translation>
    </message>
    <message>
        <source>The proof</source>
        <translation>验证结果</translation>
    </message>
    <message>
        <source>You can go back once the installation has ended.</source>
        <translation>安装结束后才能返回前面的步骤。</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>欢迎</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>What to install</source>
        <translation>装什么</translation>
    </message>
    <message>
        <source>Card, driver, disk</source>
        <translation>显卡、驱动、磁盘</translation>
    </message>
</context>
<context>
    <name>WindowElevationPrompt</name>
    <message>
        <source>Ready? The system will ask for permission</source>
        <translation>准备好了吗？系统即将询问是否允许</translation>
    </message>
    <message>
        <source>The system prompt was not answered in time</source>
        <translation>系统的权限提示没有及时得到确认</translation>
    </message>
    <message>
        <source>The next step needs administrator rights. The prompt closes by itself after two minutes.</source>
        <translation>下一步需要管理员权限。系统的提示会在两分钟后自动关闭。</translation>
    </message>
    <message>
        <source>Ask now</source>
        <translation>现在询问</translation>
    </message>
    <message>
        <source>Skip this step</source>
        <translation>跳过这一步</translation>
    </message>
</context>
<context>
    <name>VerificationCard</name>
    <message>
        <source>Show fewer</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Show all {count} checks</source>
        <translation>查看全部 {count} 项检查</translation>
    </message>
</context>
<context>
    <name>PreviewCard</name>
    <message>
        <source>On a real computer this page shows</source>
        <translation>在真实的电脑上，这一页会显示</translation>
    </message>
    <message>
        <source>The proof: card, PyTorch, CUDA and cuDNN, with versions and a real calculation</source>
        <translation>验证结果：显卡、PyTorch、CUDA 和 cuDNN，逐项列出版本，并实际算一次</translation>
    </message>
    <message>
        <source>How fast the card trains, compared with the CPU</source>
        <translation>显卡训练有多快，与 CPU 对比</translation>
    </message>
    <message>
        <source>A first program that learns to read digits, and your editor with the right Python</source>
        <translation>一个会认数字的入门程序，以及已配好 Python 的编辑器</translation>
    </message>
</context>
</TS>
