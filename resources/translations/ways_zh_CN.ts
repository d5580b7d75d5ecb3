<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>WaysPanel</name>
    <message>
        <source>It stands among your programs now.</source>
        <translation>它现在就在你的程序列表里。</translation>
    </message>
    <message>
        <source>Jupyter offers it now as one of its kernels.</source>
        <translation>Jupyter 的内核列表里现在有它了。</translation>
    </message>
    <message>
        <source>Which folder do you want to work in?</source>
        <translation>想在哪个文件夹里工作？</translation>
    </message>
    <message>
        <source>{folder} opens with this environment's Python.</source>
        <translation>{folder} 会用这个环境的 Python 打开。</translation>
    </message>
    <message>
        <source>Where shall the list of packages be saved?</source>
        <translation>软件包清单保存到哪里？</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
    <message>
        <source>Copied: {path}</source>
        <translation>已复制：{path}</translation>
    </message>
    <message>
        <source>Open a terminal</source>
        <translation>打开终端</translation>
    </message>
    <message>
        <source>With the environment ready</source>
        <translation>环境已就绪</translation>
    </message>
    <message>
        <source>Open its folder</source>
        <translation>打开所在文件夹</translation>
    </message>
    <message>
        <source>Open a project in VS Code</source>
        <translation>用 VS Code 打开项目</translation>
    </message>
    <message>
        <source>It takes this environment's Python</source>
        <translation>会使用这个环境的 Python</translation>
    </message>
    <message>
        <source>Use it in PyCharm or others</source>
        <translation>在 PyCharm 等编辑器里使用</translation>
    </message>
    <message>
        <source>Copy the path of its Python</source>
        <translation>复制它的 Python 路径</translation>
    </message>
    <message>
        <source>Put it into the menu</source>
        <translation>放进菜单</translation>
    </message>
    <message>
        <source>A terminal, among your programs</source>
        <translation>一个终端，在你的程序列表里</translation>
    </message>
    <message>
        <source>Use it in Jupyter</source>
        <translation>在 Jupyter 里使用</translation>
    </message>
    <message>
        <source>As a kernel for notebooks</source>
        <translation>作为笔记本的内核</translation>
    </message>
    <message>
        <source>Share the list of packages</source>
        <translation>分享软件包清单</translation>
    </message>
    <message>
        <source>So that others get the very same</source>
        <translation>让别人装到一模一样的</translation>
    </message>
</context>
</TS>
