<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>DesktopApplication</name>
    <message>
        <source>GPU Assistant cannot open</source>
        <translation>GPU 助手打不开</translation>
    </message>
    <message>
        <source>GPU Assistant is already open</source>
        <translation>GPU 助手已经打开</translation>
    </message>
    <message>
        <source>Details are in the log file: {path}. You can continue; trying again may help.</source>
        <translation>详情已写入日志文件：{path}。可以继续使用，再试一次也许就好了。</translation>
    </message>
    <message>
        <source>Something went wrong inside GPU Assistant</source>
        <translation>GPU 助手内部出错了</translation>
    </message>
</context>
<context>
    <name>EnvironmentActionsPanel</name>
    <message>
        <source>Learns to read digits</source>
        <translation>神经网络学认数字</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Your project, with this Python</source>
        <translation>使用这个环境的 Python</translation>
    </message>
    <message>
        <source>Opens a terminal in one click</source>
        <translation>一键打开终端</translation>
    </message>
    <message>
        <source>Add to Start</source>
        <translation>添加到“开始”菜单</translation>
    </message>
    <message>
        <source>Added to the Start menu.</source>
        <translation>已添加到“开始”菜单。</translation>
    </message>
    <message>
        <source>Add to app menu</source>
        <translation>添加到应用菜单</translation>
    </message>
    <message>
        <source>Copied: {text}</source>
        <translation>已复制：{text}</translation>
    </message>
    <message>
        <source>Copy the Python path</source>
        <translation>复制 Python 的路径</translation>
    </message>
    <message>
        <source>For your own terminal</source>
        <translation>用在你自己的终端里</translation>
    </message>
    <message>
        <source>Added to the app menu.</source>
        <translation>已添加到应用菜单。</translation>
    </message>
    <message>
        <source>Open a terminal</source>
        <translation>打开终端</translation>
    </message>
    <message>
        <source>Open in VS Code</source>
        <translation>用 VS Code 打开项目</translation>
    </message>
    <message>
        <source>My first program</source>
        <translation>我的第一个程序</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
    <message>
        <source>Choose your project folder</source>
        <translation>选择项目文件夹</translation>
    </message>
    <message>
        <source>Environment ready</source>
        <translation>环境已就绪</translation>
    </message>
    <message>
        <source>{folder} opens with this environment's Python.</source>
        <translation>{folder} 会用这个环境的 Python 打开。</translation>
    </message>
    <message>
        <source>Export package list</source>
        <translation>导出软件包列表</translation>
    </message>
    <message>
        <source>Install JupyterLab?</source>
        <translation>要安装 JupyterLab 吗？</translation>
    </message>
    <message>
        <source>JupyterLab opens notebooks in your browser. It is installed into this environment with the packages it needs; everything already there stays as it is. Removing the environment removes it too.</source>
        <translation>JupyterLab 用浏览器打开笔记本。它会连同所需的软件包装进这个环境，已有的内容都不会改动；移除环境时会一起移除。</translation>
    </message>
    <message>
        <source>Install and open</source>
        <translation>安装并打开</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不安装</translation>
    </message>
    <message>
        <source>JupyterLab opens in your browser. To stop it, choose File, then Shut Down there.</source>
        <translation>JupyterLab 会在浏览器里打开。要结束它，请在那里点 File，再点 Shut Down。</translation>
    </message>
    <message>
        <source>PyCharm is opening. Choose {python} as its interpreter (the path is copied).</source>
        <translation>PyCharm 正在打开。解释器请选择 {python}（已复制）。</translation>
    </message>
    <message>
        <source>Stopped. What was downloaded is kept.</source>
        <translation>已停止，下载的内容会保留。</translation>
    </message>
    <message>
        <source>Open in PyCharm</source>
        <translation>用 PyCharm 打开</translation>
    </message>
    <message>
        <source>The first program</source>
        <translation>第一个程序</translation>
    </message>
    <message>
        <source>For another editor</source>
        <translation>其他编辑器</translation>
    </message>
    <message>
        <source>Open in Jupyter</source>
        <translation>用 Jupyter 打开</translation>
    </message>
    <message>
        <source>As a notebook</source>
        <translation>第一个程序的笔记本</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Copy the start command</source>
        <translation>复制启动命令</translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>All topics</source>
        <translation>全部主题</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Open data folder</source>
        <translation>打开数据文件夹</translation>
    </message>
    <message>
        <source>Open logs</source>
        <translation>打开日志</translation>
    </message>
    <message>
        <source>Report a problem</source>
        <translation>反馈问题</translation>
    </message>
    <message>
        <source>Search help</source>
        <translation>搜索帮助</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>帮助主题</translation>
    </message>
</context>
<context>
    <name>Language</name>
    <message>
        <source>GPU Assistant</source>
        <translation>GPU 助手</translation>
    </message>
</context>
<context>
    <name>EnvironmentName</name>
    <message>
        <source>The name contains characters that cannot be shown; type the name instead of pasting it.</source>
        <translation>名称里有无法显示的字符，请手动输入。</translation>
    </message>
    <message>
        <source>Another environment is called “{name}”; choose another name.</source>
        <translation>已有环境叫“{name}”，请换一个名称。</translation>
    </message>
</context>
<context>
    <name>RenameDialog</name>
    <message>
        <source>Rename environment</source>
        <translation>重命名环境</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Only the name here changes. Its folder stays: {folder}</source>
        <translation>只改这里显示的名称，文件夹不变：{folder}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
</context>
<context>
    <name>Remedies</name>
    <message>
        <source>Measure again</source>
        <translation>再测一次</translation>
    </message>
    <message>
        <source>Run health test</source>
        <translation>开始体检</translation>
    </message>
    <message>
        <source>Show programs</source>
        <translation>查看占用程序</translation>
    </message>
    <message>
        <source>Watch temperature</source>
        <translation>查看温度</translation>
    </message>
    <message>
        <source>Open power settings</source>
        <translation>打开电源设置</translation>
    </message>
    <message>
        <source>Check for a driver update</source>
        <translation>检查驱动更新</translation>
    </message>
</context>
</TS>
