<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AlarmAdvicePanel</name>
    <message>
        <source>What to do</source>
        <translation>怎么办</translation>
    </message>
    <message>
        <source>What this means</source>
        <translation>这是什么意思</translation>
    </message>
</context>
<context>
    <name>AlarmRow</name>
    <message>
        <source>Don't notify me of this</source>
        <translation>不再通知</translation>
    </message>
    <message>
        <source>Notify me again</source>
        <translation>恢复通知</translation>
    </message>
    <message>
        <source>Run the health test</source>
        <translation>运行体检</translation>
    </message>
    <message>
        <source>Show programs</source>
        <translation>查看占用程序</translation>
    </message>
    <message>
        <source>Source: {publisher}</source>
        <translation>来源：{publisher}</translation>
    </message>
    <message>
        <source>Show live graphs</source>
        <translation>查看实时曲线</translation>
    </message>
</context>
<context>
    <name>AlarmsCard</name>
    <message>
        <source>Show most serious only</source>
        <translation>只看最严重的</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>Also {alarms}</source>
        <translation>另有 {alarms}</translation>
    </message>
    <message>
        <source>{count} more alarms</source>
        <translation>还有 {count} 条警报</translation>
    </message>
    <message>
        <source>{count} notes</source>
        <translation>{count} 条提示</translation>
    </message>
</context>
<context>
    <name>ExportBanner</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
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
    <name>GpuDetails</name>
    <message>
        <source>Card</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>Card details</source>
        <translation>显卡详情</translation>
    </message>
    <message>
        <source>Fan speed</source>
        <translation>风扇转速</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Graphics clock</source>
        <translation>核心频率</translation>
    </message>
    <message>
        <source>Limited by</source>
        <translation>受限原因</translation>
    </message>
    <message>
        <source>Last driver error (Xid)</source>
        <translation>驱动最近的错误（Xid）</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Memory clock</source>
        <translation>显存频率</translation>
    </message>
    <message>
        <source>Memory errors (ECC)</source>
        <translation>显存错误（ECC）</translation>
    </message>
    <message>
        <source>Retired memory pages</source>
        <translation>已停用的显存页</translation>
    </message>
    <message>
        <source>Replaced memory rows</source>
        <translation>已替换的显存行</translation>
    </message>
    <message>
        <source>No program is using it now.</source>
        <translation>现在没有程序在使用。</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>PCI Express generation</source>
        <translation>PCI Express 代数</translation>
    </message>
    <message>
        <source>PCI Express lanes</source>
        <translation>PCI Express 通道数</translation>
    </message>
    <message>
        <source>PID</source>
        <translation>进程号（PID）</translation>
    </message>
    <message>
        <source>Performance state (P0 is the fastest)</source>
        <translation>性能状态（P0 最快）</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>Programs and details</source>
        <translation>程序和详情</translation>
    </message>
    <message>
        <source>Programs using the card</source>
        <translation>使用显卡的程序</translation>
    </message>
    <message>
        <source>The card reports nothing more right now.</source>
        <translation>显卡现在没有提供更多信息。</translation>
    </message>
    <message>
        <source>The driver does not report which programs use it.</source>
        <translation>驱动没有报告哪些程序在使用它。</translation>
    </message>
    <message>
        <source>Reading from the driver…</source>
        <translation>正在读取驱动信息…</translation>
    </message>
    <message>
        <source>RPM</source>
        <translation>转/分</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>not monitored</source>
        <translation>未开启检查</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>{mended} corrected, {rest} not</source>
        <translation>已纠正 {mended}，未纠正 {rest}</translation>
    </message>
    <message>
        <source>{value} of {most}</source>
        <translation>{value} / {most}</translation>
    </message>
    <message>
        <source>Shared memory: borrowed from the computer, slow</source>
        <translation>共享显存：借用内存，较慢</translation>
    </message>
    <message>
        <source>Memory temperature</source>
        <translation>显存温度</translation>
    </message>
</context>
<context>
    <name>GpuHeader</name>
    <message>
        <source>Unknown</source>
        <translation>无法判断</translation>
    </message>
    <message>
        <source>Watching</source>
        <translation>观察中</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>正常</translation>
    </message>
</context>
<context>
    <name>GpuTable</name>
    <message>
        <source>Graphics cards</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>{count} GPUs are already shown. Selecting this one hides GPU {gpu}.</source>
        <translation>已显示 {count} 张显卡。选中这张会隐藏 GPU {gpu}。</translation>
    </message>
    <message>
        <source>Show (up to {count})</source>
        <translation>显示（最多 {count} 张）</translation>
    </message>
</context>
<context>
    <name>LiveMetricsCard</name>
    <message>
        <source>Show all {count} GPUs</source>
        <translation>查看全部 {count} 张显卡</translation>
    </message>
    <message>
        <source>Test this card</source>
        <translation>给显卡体检</translation>
    </message>
    <message>
        <source>The real computer in front of you</source>
        <translation>你面前这台真实的电脑</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message>
        <source>last {count} seconds</source>
        <translation>最近 {count} 秒</translation>
    </message>
    <message>
        <source>Run health test</source>
        <translation>开始体检</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>{count} GPUs</source>
        <translation>{count} 张显卡</translation>
    </message>
    <message>
        <source>{count} {name} GPUs</source>
        <translation>{count} 张 {name}</translation>
    </message>
</context>
<context>
    <name>Marks</name>
    <message>
        <source>benchmark</source>
        <translation>测速</translation>
    </message>
    <message>
        <source>driver hung</source>
        <translation>驱动没有响应</translation>
    </message>
    <message>
        <source>driver updated</source>
        <translation>驱动已更新</translation>
    </message>
    <message>
        <source>fan stopped</source>
        <translation>风扇停转</translation>
    </message>
    <message>
        <source>far too hot</source>
        <translation>严重过热</translation>
    </message>
    <message>
        <source>hot</source>
        <translation>很热</translation>
    </message>
    <message>
        <source>install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>memory errors</source>
        <translation>显存出错</translation>
    </message>
    <message>
        <source>no longer responds</source>
        <translation>不再响应</translation>
    </message>
    <message>
        <source>no longer there</source>
        <translation>不见了</translation>
    </message>
    <message>
        <source>power limit</source>
        <translation>功率上限</translation>
    </message>
    <message>
        <source>charger</source>
        <translation>充电器功率不够</translation>
    </message>
    <message>
        <source>power supply</source>
        <translation>供电不足</translation>
    </message>
    <message>
        <source>slowed by heat</source>
        <translation>过热降速</translation>
    </message>
    <message>
        <source>slowed itself down</source>
        <translation>自行降速</translation>
    </message>
    <message>
        <source>too little power</source>
        <translation>供电偏低</translation>
    </message>
    <message>
        <source>no data</source>
        <translation>无数据</translation>
    </message>
</context>
<context>
    <name>Metric</name>
    <message>
        <source>CPU load</source>
        <translation>CPU 占用</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>频率</translation>
    </message>
    <message>
        <source>Fan</source>
        <translation>风扇</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>占用</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Memory temperature</source>
        <translation>显存温度</translation>
    </message>
    <message>
        <source>PCIe from the card</source>
        <translation>PCIe：显卡发出</translation>
    </message>
    <message>
        <source>PCIe to the card</source>
        <translation>PCIe：显卡接收</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>功耗</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Video decoder</source>
        <translation>视频解码</translation>
    </message>
    <message>
        <source>Video encoder</source>
        <translation>视频编码</translation>
    </message>
    <message>
        <source>of {total} {unit}</source>
        <translation>/ {total} {unit}</translation>
    </message>
    <message>
        <source>{unit} (slows at {temperature})</source>
        <translation>{unit}（{temperature} 起降速）</translation>
    </message>
    <message>
        <source>Shared memory</source>
        <translation>共享显存</translation>
    </message>
</context>
<context>
    <name>MonitorExporter</name>
    <message>
        <source>Save picture</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>Save table</source>
        <translation>保存表格</translation>
    </message>
</context>
<context>
    <name>MonitorPage</name>
    <message>
        <source>Ctrl + mouse wheel zooms in and out, dragging moves through time, and a double-click returns to now.</source>
        <translation>按住 Ctrl 滚动滚轮可缩放时间轴，拖动可前后移动，双击回到现在。</translation>
    </message>
    <message>
        <source>Readings from the real computer in front of you, not from the simulated one.</source>
        <translation>这里是你面前这台真实电脑的数据，不是模拟电脑的。</translation>
    </message>
    <message>
        <source>GPU, CPU and memory</source>
        <translation>显卡、CPU 和内存</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>需留意</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>No NVIDIA GPU. CPU and memory are shown.</source>
        <translation>没有 NVIDIA 显卡，这里显示 CPU 和内存。</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>无法判断</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>有问题</translation>
    </message>
    <message>
        <source>Together</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>Several GPUs</source>
        <translation>多张显卡</translation>
    </message>
    <message>
        <source>Side by side</source>
        <translation>并排</translation>
    </message>
    <message>
        <source>Watching</source>
        <translation>观察中</translation>
    </message>
    <message>
        <source>{count} GPUs</source>
        <translation>{count} 张显卡</translation>
    </message>
    <message>
        <source>{count} {name} GPUs</source>
        <translation>{count} 张 {name}</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>正常</translation>
    </message>
    <message>
        <source>Hottest: {degrees} °C below slowdown</source>
        <translation>最热的一张离自动降速还差 {degrees} °C</translation>
    </message>
    <message>
        <source>{degrees} °C below slowdown</source>
        <translation>离自动降速还差 {degrees} °C</translation>
    </message>
    <message>
        <source>{count} alarms</source>
        <translation>{count} 条警报</translation>
    </message>
</context>
<context>
    <name>MonitorToolbar</name>
    <message>
        <source>1 h</source>
        <translation>1 小时</translation>
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
        <source>24 h</source>
        <translation>24 小时</translation>
    </message>
    <message>
        <source>30 d</source>
        <translation>30 天</translation>
    </message>
    <message>
        <source>Back to now</source>
        <translation>回到现在</translation>
    </message>
    <message>
        <source>Back to the chosen range, up to now (0, or double-click)</source>
        <translation>回到现在，并恢复所选的时间范围（按 0，或双击）</translation>
    </message>
    <message>
        <source>Back to {range}</source>
        <translation>回到 {range}</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Data as a table (CSV)…</source>
        <translation>数据表格（CSV）…</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Picture of the graphs…</source>
        <translation>曲线图片…</translation>
    </message>
    <message>
        <source>Range</source>
        <translation>时间范围</translation>
    </message>
    <message>
        <source>Save the graphs or their data</source>
        <translation>保存曲线图片或数据</translation>
    </message>
    <message>
        <source>Show the data as a table (T)</source>
        <translation>用表格看数据（T）</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
</context>
<context>
    <name>PlotCard</name>
    <message>
        <source>{name} ({unit})</source>
        <translation>{name}（{unit}）</translation>
    </message>
    <message>
        <source>limit {power}</source>
        <translation>上限 {power}</translation>
    </message>
    <message>
        <source>now {figures}</source>
        <translation>现在 {figures}</translation>
    </message>
    <message>
        <source>slows at {temperature}</source>
        <translation>{temperature} 起降速</translation>
    </message>
</context>
<context>
    <name>PlotDataTable</name>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
</context>
<context>
    <name>Plots</name>
    <message>
        <source>History since {time}</source>
        <translation>历史记录始于 {time}</translation>
    </message>
    <message>
        <source>Graphs paused at {time}</source>
        <translation>曲线已在 {time} 暂停</translation>
    </message>
    <message>
        <source>Everything above is live</source>
        <translation>上方内容仍实时更新</translation>
    </message>
    <message>
        <source>Values at {time}</source>
        <translation>{time} 的数值</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>Up to {time}</source>
        <translation>截至 {time}</translation>
    </message>
</context>
<context>
    <name>SecondaryPlotsButton</name>
    <message>
        <source>Shared memory, clock, fan, memory temperature, PCI Express and video, where reported</source>
        <translation>共享显存、频率、风扇、显存温度、PCI Express 和视频，有数据时才显示</translation>
    </message>
    <message>
        <source>Fewer graphs</source>
        <translation>减少曲线</translation>
    </message>
    <message>
        <source>More graphs</source>
        <translation>更多曲线</translation>
    </message>
</context>
<context>
    <name>GpuRows</name>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>OtherGpusRow</name>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>All {count}: {state}</source>
        <translation>全部 {count} 张：{state}</translation>
    </message>
    <message>
        <source>Show all {count}</source>
        <translation>显示全部 {count} 张</translation>
    </message>
    <message>
        <source>Show fewer</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>{count} others: {state}</source>
        <translation>其余 {count} 张：{state}</translation>
    </message>
    <message>
        <source>{count} {state}</source>
        <translation>{count} 张{state}</translation>
    </message>
</context>
</TS>
