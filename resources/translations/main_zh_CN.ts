<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>DesktopIntegration</name>
    <message>
        <source>Now install the driver</source>
        <translation>现在请安装驱动</translation>
    </message>
    <message>
        <source>A restart is needed</source>
        <translation>需要重启</translation>
    </message>
    <message>
        <source>Close GPU Assistant</source>
        <translation>退出 GPU 助手</translation>
    </message>
    <message>
        <source>Done, except for what needs your permission</source>
        <translation>已完成，只差需要你同意的部分</translation>
    </message>
    <message>
        <source>Open GPU Assistant</source>
        <translation>打开 GPU 助手</translation>
    </message>
    <message>
        <source>Open the window to see the proof that it works.</source>
        <translation>打开窗口，看看验证结果。</translation>
    </message>
    <message>
        <source>Open the window to see what was skipped.</source>
        <translation>打开窗口可以看到跳过了哪些步骤。</translation>
    </message>
    <message>
        <source>Benchmark finished</source>
        <translation>测速完成</translation>
    </message>
    <message>
        <source>The benchmark stopped</source>
        <translation>测速中断了</translation>
    </message>
    <message>
        <source>Installation finished</source>
        <translation>安装完成</translation>
    </message>
    <message>
        <source>Installation stopped</source>
        <translation>安装中断了</translation>
    </message>
    <message>
        <source>The offline folder is not ready</source>
        <translation>离线文件夹还没有准备好</translation>
    </message>
    <message>
        <source>The offline folder is ready</source>
        <translation>离线文件夹已准备好</translation>
    </message>
    <message>
        <source>The results are in the window.</source>
        <translation>结果在窗口里。</translation>
    </message>
    <message>
        <source>The window shows what to do with it on the computer without internet.</source>
        <translation>窗口里写着在不能上网的电脑上怎么做。</translation>
    </message>
</context>
<context>
    <name>DownloadsCard</name>
    <message>
        <source>Downloads</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Every file is checked against a checksum, wherever it comes from.</source>
        <translation>无论从哪里下载，每个文件都要核对校验值。</translation>
    </message>
    <message>
        <source>Use mirrors in China</source>
        <translation>使用国内镜像下载</translation>
    </message>
    <message>
        <source>Try first</source>
        <translation>优先使用</translation>
    </message>
    <message>
        <source>Speed limit</source>
        <translation>下载限速</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>When slow</source>
        <translation>速度慢时</translation>
    </message>
    <message>
        <source>Leaves some of your connection for other programs.</source>
        <translation>给其他程序留一些带宽。</translation>
    </message>
</context>
<context>
    <name>EnvironmentRemoval</name>
    <message>
        <source>Removed: {path}</source>
        <translation>已移除：{path}</translation>
    </message>
    <message>
        <source>Removed what was installed for {path}:</source>
        <translation>已移除为 {path} 安装的内容：</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove “{name}”{size}?</source>
        <translation>移除“{name}”{size}？</translation>
    </message>
    <message>
        <source>Only this is removed:</source>
        <translation>会移除这些，不动其他内容：</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>What will be removed</source>
        <translation>会移除的内容</translation>
    </message>
</context>
<context>
    <name>EnvironmentRow</name>
    <message>
        <source>Check all files</source>
        <translation>检查所有文件</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>Manage</source>
        <translation>管理</translation>
    </message>
    <message>
        <source>Open a terminal</source>
        <translation>打开终端</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>移除…</translation>
    </message>
    <message>
        <source>Update or repair…</source>
        <translation>更新或修复…</translation>
    </message>
    <message>
        <source>Set as default</source>
        <translation>设为默认</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>This environment does not use your GPU.</source>
        <translation>这个环境不会用到你的显卡。</translation>
    </message>
    <message>
        <source>for the CPU</source>
        <translation>CPU 版</translation>
    </message>
    <message>
        <source>without PyTorch</source>
        <translation>没有 PyTorch</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Verifying…</source>
        <translation>正在验证…</translation>
    </message>
    <message>
        <source>Waiting…</source>
        <translation>排队中…</translation>
    </message>
    <message>
        <source>Removing…</source>
        <translation>正在移除…</translation>
    </message>
    <message>
        <source>Export package list…</source>
        <translation>导出软件包列表…</translation>
    </message>
    <message>
        <source>CPU only</source>
        <translation>只用 CPU</translation>
    </message>
</context>
<context>
    <name>EnvironmentsCard</name>
    <message>
        <source>Environments</source>
        <translation>环境</translation>
    </message>
    <message>
        <source>New environment</source>
        <translation>新建环境</translation>
    </message>
    <message>
        <source>None yet. An environment keeps PyTorch and its packages separate from everything else.</source>
        <translation>还没有。环境让 PyTorch 和它的软件包单独存放，不影响其他软件。</translation>
    </message>
    <message>
        <source>Install from an offline folder</source>
        <translation>从离线文件夹安装</translation>
    </message>
    <message>
        <source>Each is a folder with its own Python and PyTorch</source>
        <translation>每个环境是一个文件夹，有自己的 Python 和 PyTorch</translation>
    </message>
</context>
<context>
    <name>GpuNotifier</name>
    <message>
        <source>GPU Assistant</source>
        <translation>GPU 助手</translation>
    </message>
    <message>
        <source>and {count} more</source>
        <translation>另有 {count} 张</translation>
    </message>
</context>
<context>
    <name>GpuSettingsCard</name>
    <message>
        <source>On a laptop, this never wakes a card that sleeps to save power.</source>
        <translation>笔记本显卡休眠省电时，不会为了显示温度而唤醒它。</translation>
    </message>
    <message>
        <source>Show its temperature next to the clock</source>
        <translation>在时钟旁显示显卡温度</translation>
    </message>
    <message>
        <source>Notify me of problems with the card, even in the background</source>
        <translation>显卡出现问题时通知我，在后台运行时也通知</translation>
    </message>
    <message>
        <source>Your graphics card</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>For example when it gets too hot or has a fault.</source>
        <translation>例如过热或出现故障时。</translation>
    </message>
</context>
<context>
    <name>HomePage</name>
    <message>
        <source>expanded</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>collapsed</source>
        <translation>已收起</translation>
    </message>
    <message>
        <source>After the setup</source>
        <translation>装好以后</translation>
    </message>
    <message>
        <source>Run a first program, and watch a small network learn to read digits</source>
        <translation>运行第一个程序，看一个小神经网络学会认数字</translation>
    </message>
    <message>
        <source>Measure how fast PyTorch is on this computer</source>
        <translation>测测 PyTorch 在这台电脑上有多快</translation>
    </message>
    <message>
        <source>Open your editor, Jupyter or a terminal with the right Python</source>
        <translation>一键打开编辑器、Jupyter 或终端，Python 已经选好</translation>
    </message>
    <message>
        <source>Remove everything again whenever you like</source>
        <translation>不想要时，随时可以全部移除</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>首页</translation>
    </message>
    <message>
        <source>It is running in this environment, which can only be removed afterwards.</source>
        <translation>测速正在这个环境里运行，停止后才能移除。</translation>
    </message>
    <message>
        <source>Set up PyTorch</source>
        <translation>安装 PyTorch</translation>
    </message>
    <message>
        <source>Set up again</source>
        <translation>重新安装</translation>
    </message>
    <message>
        <source>Start working</source>
        <translation>开始使用</translation>
    </message>
    <message>
        <source>Start working in “{environment}”</source>
        <translation>开始使用“{environment}”</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the benchmark?</source>
        <translation>停止测速？</translation>
    </message>
    <message>
        <source>{passed} of {count} checks passed</source>
        <translation>{count} 项检查通过了 {passed} 项</translation>
    </message>
    <message>
        <source>Export package list</source>
        <translation>导出软件包列表</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
</context>
<context>
    <name>HomeVerdict</name>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>About 10 minutes. Nothing is changed before you agree.</source>
        <translation>约 10 分钟，你同意之前什么都不改。</translation>
    </message>
    <message>
        <source>For learning and small models. Nothing is changed before you agree.</source>
        <translation>适合学习和小模型。你同意之前什么都不改。</translation>
    </message>
    <message>
        <source>Readings appear as soon as a program uses it.</source>
        <translation>有程序使用显卡时，就会有数据。</translation>
    </message>
    <message>
        <source>It may be asleep to save power, or its driver may be waiting for a restart.</source>
        <translation>可能正在休眠省电，也可能驱动在等待重启。</translation>
    </message>
    <message>
        <source>Checking this computer…</source>
        <translation>正在检测这台电脑…</translation>
    </message>
    <message>
        <source>No NVIDIA GPU: PyTorch works on the CPU</source>
        <translation>没有 NVIDIA 显卡，PyTorch 用 CPU 运行</translation>
    </message>
    <message>
        <source>Nothing is installed or measured on it. The readings below are from the real computer in front of you.</source>
        <translation>不会为它安装任何东西，也不会测速。下面是你面前这台真实电脑的数据。</translation>
    </message>
    <message>
        <source>PyTorch cannot use your GPU: this build has no CUDA.</source>
        <translation>PyTorch 用不了你的显卡：这个版本不带 CUDA。</translation>
    </message>
    <message>
        <source>Run health test</source>
        <translation>开始体检</translation>
    </message>
    <message>
        <source>Set up PyTorch</source>
        <translation>安装 PyTorch</translation>
    </message>
    <message>
        <source>Set up again</source>
        <translation>重新安装</translation>
    </message>
    <message>
        <source>Set up my GPU</source>
        <translation>配置我的显卡</translation>
    </message>
    <message>
        <source>Show live graphs</source>
        <translation>查看实时曲线</translation>
    </message>
    <message>
        <source>The setup can replace it with a build that has CUDA.</source>
        <translation>重新安装就能换成带 CUDA 的版本。</translation>
    </message>
    <message>
        <source>This is a simulated computer</source>
        <translation>这是一台模拟的电脑</translation>
    </message>
    <message>
        <source>Try the setup</source>
        <translation>试一遍安装流程</translation>
    </message>
    <message>
        <source>No readings from your GPU right now</source>
        <translation>显卡暂时没有数据</translation>
    </message>
    <message>
        <source>Your GPU is not set up for deep learning yet</source>
        <translation>显卡还没有配好深度学习环境</translation>
    </message>
    <message>
        <source>busiest {load}%</source>
        <translation>最忙 {load}%</translation>
    </message>
    <message>
        <source>hottest {temp} °C</source>
        <translation>最热 {temp} °C</translation>
    </message>
    <message>
        <source>load {load}%</source>
        <translation>占用 {load}%</translation>
    </message>
    <message>
        <source>{first}. {then}</source>
        <translation>{first}。{then}</translation>
    </message>
    <message>
        <source>1 optional update</source>
        <translation>有 1 项可选更新</translation>
    </message>
    <message>
        <source>Health test failed on {date}</source>
        <translation>{date} 体检未通过</translation>
    </message>
    <message>
        <source>Health test passed on {date} ({level})</source>
        <translation>{date} 体检通过（{level}）</translation>
    </message>
    <message>
        <source>Health test gave warnings on {date}</source>
        <translation>{date} 体检有提醒</translation>
    </message>
    <message>
        <source>Health test: not run yet</source>
        <translation>还没做过体检</translation>
    </message>
    <message>
        <source>Health test: {count} of {total} cards passed</source>
        <translation>体检：{total} 张中通过了 {count} 张</translation>
    </message>
    <message>
        <source>Run my first program</source>
        <translation>运行第一个程序</translation>
    </message>
    <message>
        <source>Temperature, power and memory are all fine</source>
        <translation>温度、功耗和显存都没有问题</translation>
    </message>
    <message>
        <source>The hottest is {degrees} °C below its slowdown temperature</source>
        <translation>最热的一张离自动降速还差 {degrees} °C</translation>
    </message>
    <message>
        <source>The last health test found a problem</source>
        <translation>上次体检发现了问题</translation>
    </message>
    <message>
        <source>Your GPU is running normally</source>
        <translation>你的显卡运行正常</translation>
    </message>
    <message>
        <source>Your GPUs are running normally</source>
        <translation>你的显卡都运行正常</translation>
    </message>
    <message>
        <source>{count} optional updates</source>
        <translation>有 {count} 项可选更新</translation>
    </message>
    <message>
        <source>{date}, {level}. Run the test again to see what the problem is.</source>
        <translation>{date}，{level}。再做一次，看看是什么问题。</translation>
    </message>
    <message>
        <source>{degrees} °C below its slowdown temperature</source>
        <translation>离自动降速还差 {degrees} °C</translation>
    </message>
    <message>
        <source>Good for learning and small models; large ones need an NVIDIA GPU.</source>
        <translation>学习和小模型够用，大模型需要 NVIDIA 显卡。</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>怎么办</translation>
    </message>
    <message>
        <source>{time} so far · clock {clock} MHz</source>
        <translation>已持续 {time} · 频率 {clock} MHz</translation>
    </message>
    <message>
        <source>{time} so far</source>
        <translation>已持续 {time}</translation>
    </message>
    <message>
        <source>{time} so far · clock down {percent}%: {before} → {clock} MHz</source>
        <translation>已持续 {time} · 频率从 {before} 降到 {clock} MHz（−{percent}%）</translation>
    </message>
</context>
<context>
    <name>LatestBenchmarkCard</name>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Run benchmark</source>
        <translation>开始测速</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Measuring now</source>
        <translation>正在测速</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>正常</translation>
    </message>
    <message>
        <source>Not measured yet. It takes about a minute.</source>
        <translation>还没测过，约 1 分钟。</translation>
    </message>
    <message>
        <source>Slower than usual</source>
        <translation>比平常慢</translation>
    </message>
    <message>
        <source>Usual for this card: {low} to {high} {unit}</source>
        <translation>这张卡通常为 {low} 到 {high} {unit}</translation>
    </message>
    <message>
        <source>Enough for small models; large ones need a graphics card.</source>
        <translation>小模型够用，大模型需要显卡。</translation>
    </message>
</context>
<context>
    <name>MainArea</name>
    <message>
        <source>Benchmark</source>
        <translation>测速</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>首页</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>Preparing the graphs…</source>
        <translation>正在准备曲线…</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Simulated computer: {name}. Nothing is executed.</source>
        <translation>模拟的电脑：{name}。不会执行任何操作。</translation>
    </message>
    <message>
        <source>Health test</source>
        <translation>体检</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>An unfinished benchmark is not kept.</source>
        <translation>没测完的测速成绩不会保留。</translation>
    </message>
    <message>
        <source>GPU Assistant</source>
        <translation>GPU 助手</translation>
    </message>
    <message>
        <source>GPU Assistant closed unexpectedly last time. Details are in {path}</source>
        <translation>GPU 助手上次意外退出，详情记录在 {path}</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
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
        <source>Stop the benchmark?</source>
        <translation>停止测速？</translation>
    </message>
    <message>
        <source>Stopping… The window closes by itself in a moment.</source>
        <translation>正在停止…窗口很快会自动关闭。</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>知道了</translation>
    </message>
    <message>
        <source>Removed</source>
        <translation>已移除</translation>
    </message>
    <message>
        <source>GPU Assistant closes now. Remove the program itself like any other program.</source>
        <translation>GPU 助手即将关闭。要卸载程序本身，请像卸载其他程序一样操作。</translation>
    </message>
    <message>
        <source>Stop the health test?</source>
        <translation>停止体检？</translation>
    </message>
    <message>
        <source>The test ends without a verdict, and its results so far are not kept.</source>
        <translation>体检会中止，不给出结论，已有的结果也不会保留。</translation>
    </message>
</context>
<context>
    <name>MutedAlarmsList</name>
    <message>
        <source>No notifications for:</source>
        <translation>以下情况不再通知：</translation>
    </message>
    <message>
        <source>Notify me again</source>
        <translation>恢复通知</translation>
    </message>
</context>
<context>
    <name>OfflineCard</name>
    <message>
        <source>Prepare a folder…</source>
        <translation>准备文件夹…</translation>
    </message>
    <message>
        <source>Put all files that a setup needs into one folder, for a computer without internet.</source>
        <translation>把安装需要的全部文件放进一个文件夹，给不能上网的电脑用。</translation>
    </message>
    <message>
        <source>Set up this computer from a folder that was prepared on a computer with internet.</source>
        <translation>用在能上网的电脑上准备好的文件夹来安装。</translation>
    </message>
    <message>
        <source>Install from an offline folder…</source>
        <translation>从离线文件夹安装…</translation>
    </message>
    <message>
        <source>Without internet</source>
        <translation>没有网络时</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Jump to section</source>
        <translation>跳转到</translation>
    </message>
    <message>
        <source>Use system setting</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>GPU Assistant {version}, free software (Apache-2.0).</source>
        <translation>GPU 助手 {version}，开源软件（Apache-2.0）。</translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation>高对比度</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Language and appearance</source>
        <translation>语言和主题</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>GPU Assistant goes online only to download. Nothing about you is sent.</source>
        <translation>GPU 助手只在下载时联网，不上传任何信息。</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>文字大小</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>About</source>
        <translation>关于</translation>
    </message>
    <message>
        <source>Changes apply at once.</source>
        <translation>改动立即生效。</translation>
    </message>
</context>
<context>
    <name>SoftwareCard</name>
    <message>
        <source>Change or update…</source>
        <translation>更改或更新…</translation>
    </message>
    <message>
        <source>Driver and PyTorch</source>
        <translation>驱动和 PyTorch</translation>
    </message>
    <message>
        <source>Go back to {version}</source>
        <translation>退回 {version}</translation>
    </message>
    <message>
        <source>Graphics driver</source>
        <translation>显卡驱动</translation>
    </message>
    <message>
        <source>Up to date</source>
        <translation>已是最新</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Update to {version}</source>
        <translation>更新到 {version}</translation>
    </message>
    <message>
        <source>not installed</source>
        <translation>未安装</translation>
    </message>
</context>
<context>
    <name>UpdatePanel</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>GPU Assistant {version} is available</source>
        <translation>GPU 助手 {version} 已发布</translation>
    </message>
    <message>
        <source>Install now</source>
        <translation>现在安装</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不更新</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开所在文件夹</translation>
    </message>
    <message>
        <source>Release notes</source>
        <translation>更新内容</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>you have {version}</source>
        <translation>当前版本 {version}</translation>
    </message>
    <message>
        <source>Released {date}</source>
        <translation>发布于 {date}</translation>
    </message>
    <message>
        <source>no file for this kind of installation</source>
        <translation>没有适合当前安装方式的文件</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <source>Downloading GPU Assistant {version}</source>
        <translation>正在下载 GPU 助手 {version}</translation>
    </message>
    <message>
        <source>GPU Assistant {version} is ready to install</source>
        <translation>GPU 助手 {version} 可以安装了</translation>
    </message>
    <message>
        <source>d MMMM yyyy</source>
        <translation>yyyy 年 M 月 d 日</translation>
    </message>
</context>
<context>
    <name>UpdateSettingsCard</name>
    <message>
        <source>Checking…</source>
        <translation>正在查询…</translation>
    </message>
    <message>
        <source>Check now</source>
        <translation>立即检查</translation>
    </message>
    <message>
        <source>Last checked {when}: {outcome}</source>
        <translation>上次检查 {when}：{outcome}</translation>
    </message>
    <message>
        <source>Check for a new version once a day</source>
        <translation>每天检查一次新版本</translation>
    </message>
    <message>
        <source>Not checked yet.</source>
        <translation>还没有检查过。</translation>
    </message>
    <message>
        <source>This copy cannot check for updates, because it has no update source. Install new versions yourself.</source>
        <translation>这个版本无法检查更新，因为没有更新来源。请自己安装新版本。</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>更新</translation>
    </message>
</context>
<context>
    <name>ProxyCard</name>
    <message>
        <source>Internet connection</source>
        <translation>网络连接</translation>
    </message>
    <message>
        <source>Use system setting</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>No proxy</source>
        <translation>不用代理</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>手动填写</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>User name, if required</source>
        <translation>用户名（如需要）</translation>
    </message>
    <message>
        <source>Password</source>
        <translation>密码</translation>
    </message>
    <message>
        <source>User name and password are never saved: they are forgotten when GPU Assistant closes.</source>
        <translation>用户名和密码不会保存，关闭 GPU 助手后即清除。</translation>
    </message>
    <message>
        <source>Check that downloads work</source>
        <translation>检查能否下载</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Test connection</source>
        <translation>测试连接</translation>
    </message>
    <message>
        <source>Connecting to PyTorch's download site…</source>
        <translation>正在连接 PyTorch 的下载站点…</translation>
    </message>
    <message>
        <source>This is not a proxy address. Write it like http://proxy.example:8080, as shown on your network's help page or in your proxy program.</source>
        <translation>这不是代理地址。请写成 http://proxy.example:8080 这样，具体地址见代理软件或网络的说明。</translation>
    </message>
    <message>
        <source>Companies and schools often have one. Leave it as it is if you have none.</source>
        <translation>公司和学校的网络常用代理。没有代理就不用改。</translation>
    </message>
    <message>
        <source>Contacts PyTorch's download site.</source>
        <translation>向 PyTorch 的下载网站发一次请求。</translation>
    </message>
</context>
<context>
    <name>DownloadsFolder</name>
    <message>
        <source>Downloaded files</source>
        <translation>下载的文件</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Move…</source>
        <translation>移动…</translation>
    </message>
    <message>
        <source>Move back</source>
        <translation>移回</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>The downloads were moved to {folder}, which cannot be found now. Until that disk is back, new downloads go here.</source>
        <translation>下载的文件移到了 {folder}，但现在找不到这个文件夹。在那个磁盘重新连接之前，新下载的文件会放在这里。</translation>
    </message>
    <message>
        <source>Move the downloads to make room on this disk. Environments do not need them; they are kept so that the next setup does not have to download them again.</source>
        <translation>移动下载的文件可以给这个磁盘腾出空间。环境不需要它们，保留只是为了下次安装不用重新下载。</translation>
    </message>
    <message>
        <source>Removing the old files…</source>
        <translation>正在删除旧文件…</translation>
    </message>
    <message>
        <source>Copying and checking the downloads…</source>
        <translation>正在复制并核对下载的文件…</translation>
    </message>
    <message>
        <source>Where should the downloads go?</source>
        <translation>下载的文件放在哪里？</translation>
    </message>
    <message>
        <source>Stopped. The downloads are where they were.</source>
        <translation>已停止。下载的文件仍在原处。</translation>
    </message>
    <message>
        <source>Moved. A program is still using files in {folder}; they are removed with the next setup.</source>
        <translation>已移动。{folder} 里还有文件正在被程序使用，下次安装时会删除。</translation>
    </message>
    <message>
        <source>Moved. Nothing is left in the old folder.</source>
        <translation>已移动，原来的文件夹里没有遗留文件。</translation>
    </message>
    <message>
        <source>Moving the downloads was interrupted last time. Nothing is lost: all of them are in {folder}.</source>
        <translation>上次移动下载的文件时中断了。没有丢失任何文件，它们都在 {folder}。</translation>
    </message>
    <message>
        <source>Copied and checked: {done} of {total}</source>
        <translation>已复制并检查 {done}，共 {total}</translation>
    </message>
</context>
<context>
    <name>FoldersCard</name>
    <message>
        <source>Folders</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>New environments</source>
        <translation>新环境</translation>
    </message>
    <message>
        <source>Settings, results and logs</source>
        <translation>设置、结果和日志</translation>
    </message>
    <message>
        <source>Licences of everything GPU Assistant contains</source>
        <translation>GPU 助手所含全部组件的许可证</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>更改…</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>恢复默认</translation>
    </message>
    <message>
        <source>Existing environments stay where they are and keep working: their programs contain the folder's path, so moving one would break it. To move one, create a new one here and remove the old one.</source>
        <translation>已有的环境留在原处，照常可用：它们的程序里写有文件夹路径，移动后就会失效。想换位置，请在这里新建一个，再移除旧的。</translation>
    </message>
    <message>
        <source>Where should new environments go?</source>
        <translation>新环境放在哪里？</translation>
    </message>
</context>
<context>
    <name>StartupCard</name>
    <message>
        <source>Start and notifications</source>
        <translation>启动和通知</translation>
    </message>
    <message>
        <source>Start in the background when I sign in</source>
        <translation>登录后在后台启动</translation>
    </message>
    <message>
        <source>Notify me when a setup, a benchmark or a health test has finished</source>
        <translation>安装、测速或体检完成时通知我</translation>
    </message>
    <message>
        <source>The graphs and warnings then cover the whole day.</source>
        <translation>这样全天都有曲线和提醒。</translation>
    </message>
</context>
<context>
    <name>RemovalCard</name>
    <message>
        <source>Remove GPU Assistant</source>
        <translation>卸载 GPU 助手</translation>
    </message>
    <message>
        <source>Settings, downloads, results and logs; your environments stay</source>
        <translation>设置、下载、结果和日志；保留你的环境</translation>
    </message>
    <message>
        <source>All of that and every environment that GPU Assistant made</source>
        <translation>以上全部，以及 GPU 助手创建的所有环境</translation>
    </message>
    <message>
        <source>You see a list first and are asked to confirm. Then GPU Assistant closes; remove the program itself like any other program.</source>
        <translation>会先列出清单并征求你的同意。完成后 GPU 助手会关闭，之后像卸载其他程序一样卸载它即可。</translation>
    </message>
    <message>
        <source>Remove all but environments…</source>
        <translation>除环境外全部移除…</translation>
    </message>
    <message>
        <source>Remove everything…</source>
        <translation>全部移除…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Not everything was removed. Close GPU Assistant, open it again and try once more.</source>
        <translation>还有内容没有移除。请关闭 GPU 助手，重新打开后再试一次。</translation>
    </message>
    <message>
        <source>Remove all but environments?</source>
        <translation>除环境外全部移除？</translation>
    </message>
    <message>
        <source>Remove everything?</source>
        <translation>全部移除？</translation>
    </message>
    <message>
        <source>Only this is removed:</source>
        <translation>将移除以下内容，其他都保留：</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
</context>
<context>
    <name>SettingsOverlay</name>
    <message>
        <source>Back to setup</source>
        <translation>返回安装</translation>
    </message>
</context>
</TS>
