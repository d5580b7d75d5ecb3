<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>LiveCard</name>
    <message>
        <source>The real computer you sit at</source>
        <translation>你面前这台真实的电脑</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>last 60 seconds</source>
        <translation>最近 60 秒</translation>
    </message>
</context>
<context>
    <name>Metric</name>
    <message>
        <source>of {total} {unit}</source>
        <translation>/ {total} {unit}</translation>
    </message>
    <message>
        <source>CPU load</source>
        <translation>CPU 占用</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>占用</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>功耗</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>频率</translation>
    </message>
    <message>
        <source>Fan</source>
        <translation>风扇</translation>
    </message>
</context>
<context>
    <name>MonitorPage</name>
    <message>
        <source>24 h</source>
        <translation>24 小时</translation>
    </message>
    <message>
        <source>30 d</source>
        <translation>30 天</translation>
    </message>
    <message>
        <source>Figures of the real computer you sit at, not of the simulated machine.</source>
        <translation>这里是你面前这台真实电脑的数据，不是模拟电脑的。</translation>
    </message>
    <message>
        <source>1 min</source>
        <translation>1 分钟</translation>
    </message>
    <message>
        <source>10 min</source>
        <translation>10 分钟</translation>
    </message>
    <message>
        <source>1 h</source>
        <translation>1 小时</translation>
    </message>
    <message>
        <source>Range</source>
        <translation>时间范围</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Show the figures as a table</source>
        <translation>用表格看数据</translation>
    </message>
    <message>
        <source>Show the figures as a table (T)</source>
        <translation>用表格看数据（T）</translation>
    </message>
    <message>
        <source>No NVIDIA GPU. CPU and memory are shown.</source>
        <translation>没有 NVIDIA 显卡，这里显示 CPU 和内存。</translation>
    </message>
    <message>
        <source>{count} GPUs, CPU and memory</source>
        <translation>{count} 张显卡、CPU 和内存</translation>
    </message>
    <message>
        <source>GPU, CPU and memory</source>
        <translation>显卡、CPU 和内存</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>slowed by heat</source>
        <translation>过热降速</translation>
    </message>
    <message>
        <source>held by the power limit</source>
        <translation>受功耗上限限制</translation>
    </message>
    <message>
        <source>Well</source>
        <translation>正常</translation>
    </message>
</context>
<context>
    <name>MonitorTable</name>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
</context>
<context>
    <name>PlotCard</name>
    <message>
        <source>limit {power}</source>
        <translation>上限 {power}</translation>
    </message>
    <message>
        <source>now {figures}</source>
        <translation>现在 {figures}</translation>
    </message>
</context>
<context>
    <name>AlarmRow</name>
    <message>
        <source>Source</source>
        <translation>出处</translation>
    </message>
    <message>
        <source>Notify me again</source>
        <translation>恢复通知</translation>
    </message>
    <message>
        <source>No notifications for this</source>
        <translation>不再通知此项</translation>
    </message>
</context>
</TS>
