<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>BenchmarkMessages</name>
    <message>
        <source>Training on {total} images</source>
        <translation>用 {total} 张图片训练</translation>
    </message>
    <message>
        <source>Training on {total} sentences</source>
        <translation>用 {total} 个句子训练</translation>
    </message>
    <message>
        <source>Writing text</source>
        <translation>生成文字</translation>
    </message>
    <message>
        <source>Matrix multiplication</source>
        <translation>矩阵乘法</translation>
    </message>
    <message>
        <source>CPU ({dtype})</source>
        <translation>CPU（{dtype}）</translation>
    </message>
    <message>
        <source>Copy to the card</source>
        <translation>向显卡复制</translation>
    </message>
    <message>
        <source>Doubtful: {why}.</source>
        <translation>结果存疑：{why}。</translation>
    </message>
    <message>
        <source>The CPU is faster at this.</source>
        <translation>这个项目用 CPU 更快。</translation>
    </message>
    <message>
        <source>Measured today, {time}</source>
        <translation>今天 {time} 测得</translation>
    </message>
    <message>
        <source>Measured {date}, {time}</source>
        <translation>{date} {time} 测得</translation>
    </message>
    <message>
        <source>What takes the CPU all night (8 hours) takes the card {time}.</source>
        <translation>CPU 要算一整夜（8 小时）的任务，显卡只要 {time}。</translation>
    </message>
    <message>
        <source>What takes the CPU all night (8 hours) takes {card} {time}.</source>
        <translation>CPU 要算一整夜（8 小时）的任务，{card} 只要 {time}。</translation>
    </message>
    <message>
        <source>billion operations per second ({unit})</source>
        <translation>{unit}（每秒十亿次运算）</translation>
    </message>
    <message>
        <source>trillion operations per second ({unit})</source>
        <translation>{unit}（每秒万亿次运算）</translation>
    </message>
    <message>
        <source>on {device}</source>
        <translation>{device}</translation>
    </message>
    <message>
        <source>the {card}</source>
        <translation>{card}</translation>
    </message>
    <message>
        <source>answers word by word</source>
        <translation>逐词生成回答</translation>
    </message>
    <message>
        <source>full test, {time}</source>
        <translation>完整测速 {time}</translation>
    </message>
    <message>
        <source>mixed precision</source>
        <translation>混合精度</translation>
    </message>
    <message>
        <source>one {card}</source>
        <translation>单张 {card}</translation>
    </message>
    <message>
        <source>through the PCIe slot</source>
        <translation>经过 PCIe 插槽</translation>
    </message>
    <message>
        <source>quick test, {time}</source>
        <translation>快速测速 {time}</translation>
    </message>
    <message>
        <source>reads sentences</source>
        <translation>理解句子</translation>
    </message>
    <message>
        <source>recognises images</source>
        <translation>识别图片</translation>
    </message>
    <message>
        <source>the CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>today {time}</source>
        <translation>今天 {time}</translation>
    </message>
    <message>
        <source>{billions} billion operations per second</source>
        <translation>{hundred_millions} 亿次运算/秒</translation>
    </message>
    <message>
        <source>{count} GPUs together</source>
        <translation>{count} 张显卡一起</translation>
    </message>
    <message>
        <source>{dtype}, batch {batch}</source>
        <translation>{dtype}，批次 {batch}</translation>
    </message>
    <message>
        <source>{kind}, as a CUDA graph</source>
        <translation>{kind}，用 CUDA 图</translation>
    </message>
    <message>
        <source>{name} on {device}</source>
        <translation>{device}：{name}</translation>
    </message>
    <message>
        <source>{percent}% efficiency</source>
        <translation>并行效率 {percent}%</translation>
    </message>
    <message>
        <source>{text}, in a burst; {value} sustained</source>
        <translation>{text}，短时；持续运行 {value}</translation>
    </message>
    <message>
        <source>{threads} threads</source>
        <translation>{threads} 个线程</translation>
    </message>
    <message>
        <source>{times}×</source>
        <translation>{times} 倍</translation>
    </message>
    <message>
        <source>{value} (doubtful)</source>
        <translation>{value}（存疑）</translation>
    </message>
    <message>
        <source>{what}, {kind}</source>
        <translation>{what}，{kind}</translation>
    </message>
    <message>
        <source>{when}, full</source>
        <translation>{when} 完整</translation>
    </message>
    <message>
        <source>{workload}, {dtype}</source>
        <translation>{workload}（{dtype}）</translation>
    </message>
    <message>
        <source>* Doubtful: {why}.</source>
        <translation>* 存疑：{why}。</translation>
    </message>
    <message>
        <source>{workload}: one {card} is {times} times as fast as your CPU</source>
        <translation>{workload}，单张 {card} 的速度是 CPU 的 {times} 倍</translation>
    </message>
    <message>
        <source>{workload}: your {card} is {times} times as fast as your CPU</source>
        <translation>{workload}，{card} 的速度是 CPU 的 {times} 倍</translation>
    </message>
    <message>
        <source>The card in {how}, the CPU in {how_cpu}.</source>
        <translation>显卡用 {how}；CPU 用 {how_cpu}。</translation>
    </message>
    <message>
        <source>{text} ({value} without)</source>
        <translation>{text}（不用时 {value}）</translation>
    </message>
    <message>
        <source>copying within the card's memory</source>
        <translation>在显存内复制数据</translation>
    </message>
    <message>
        <source>copying within the memory</source>
        <translation>在内存内复制数据</translation>
    </message>
    <message>
        <source>full precision ({kind})</source>
        <translation>全精度（{kind}）</translation>
    </message>
    <message>
        <source>half precision ({kind})</source>
        <translation>半精度（{kind}）</translation>
    </message>
    <message>
        <source>through the slot (PCIe {gen}.0, {lanes} lanes)</source>
        <translation>经过插槽（PCIe {gen}.0，{lanes} 通道）</translation>
    </message>
    <message>
        <source>as fast as your CPU</source>
        <translation>与你的 CPU 相比的速度</translation>
    </message>
</context>
<context>
    <name>BenchmarkReport</name>
    <message>
        <source>All results</source>
        <translation>全部数据</translation>
    </message>
    <message>
        <source>Before and now</source>
        <translation>以前和现在</translation>
    </message>
    <message>
        <source>Devices and versions</source>
        <translation>设备与版本</translation>
    </message>
    <message>
        <source>How fast this CPU is</source>
        <translation>这个 CPU 的计算速度</translation>
    </message>
    <message>
        <source>How fast this computer is</source>
        <translation>这台电脑的计算速度</translation>
    </message>
    <message>
        <source>How fast this computer trains</source>
        <translation>这台电脑的训练速度</translation>
    </message>
    <message>
        <source>Is that normal for this card?</source>
        <translation>这张卡正常吗？</translation>
    </message>
    <message>
        <source>Measured with GPU Assistant. Contains no personal names, serial numbers or folder names.</source>
        <translation>由 GPU 助手测得。报告不含人名、序列号和文件夹。</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>Middle 50%</source>
        <translation>中间 50%</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>次数</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Versions</source>
        <translation>版本</translation>
    </message>
    <message>
        <source>Was it a fair test?</source>
        <translation>这次测得准吗？</translation>
    </message>
    <message>
        <source>What</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>What the card did during the test</source>
        <translation>测速时显卡的状态</translation>
    </message>
    <message>
        <source>What the cards did during the test</source>
        <translation>测速时各显卡的状态</translation>
    </message>
    <message>
        <source>When</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Sources:</source>
        <translation>数据来源：</translation>
    </message>
    <message>
        <source>above the usual range: {low} to {high}</source>
        <translation>高于正常范围：{low} 到 {high}</translation>
    </message>
    <message>
        <source>usual: {low} to {high}</source>
        <translation>正常：{low} 到 {high}</translation>
    </message>
    <message>
        <source>{percent} slower than usual: {low} to {high}</source>
        <translation>比正常水平慢 {percent}：正常为 {low} 到 {high}</translation>
    </message>
</context>
<context>
    <name>ExpectedRangeCard</name>
    <message>
        <source>{description}, at most {limit}</source>
        <translation>{description}，上限 {limit}</translation>
    </message>
    <message>
        <source>slot limit: {limit}</source>
        <translation>插槽上限：{limit}</translation>
    </message>
    <message>
        <source>No reason was found. Highest temperature: {temperature} °C. Highest load before the test: {percent}.</source>
        <translation>没有发现具体原因。最高温度 {temperature} °C，测速前 GPU 占用最高 {percent}。</translation>
    </message>
    <message>
        <source>No reason was found. Highest temperature: {temperature} °C.</source>
        <translation>没有发现具体原因。最高温度 {temperature} °C。</translation>
    </message>
    <message>
        <source>No reason was found. Highest load before the test: {percent}.</source>
        <translation>没有发现具体原因。测速前 GPU 占用最高 {percent}。</translation>
    </message>
    <message>
        <source>Your {card} runs at its usual speed</source>
        <translation>你的 {card} 达到同型号显卡的正常速度</translation>
    </message>
    <message>
        <source>Your {card} runs at its usual speed, or faster</source>
        <translation>你的 {card} 达到或超过同型号显卡的正常速度</translation>
    </message>
    <message>
        <source>These cards run at their usual speed: {cards}</source>
        <translation>这些显卡达到同型号的正常速度：{cards}</translation>
    </message>
    <message>
        <source>These cards run at their usual speed, or faster: {cards}</source>
        <translation>这些显卡达到或超过同型号的正常速度：{cards}</translation>
    </message>
    <message>
        <source>Your cards run at their usual speed</source>
        <translation>你的几张显卡都达到同型号的正常速度</translation>
    </message>
    <message>
        <source>Your cards run at their usual speed, or faster</source>
        <translation>你的几张显卡都达到或超过同型号的正常速度</translation>
    </message>
    <message>
        <source>The ranges for matrix multiplication come from public results for such cards, slightly widened. For copies we expect {low_copy} to {high_copy}% of the card's rated memory speed and {low_way} to {high_way}% of the slot's speed; we chose these limits ourselves. Data as of {date}.</source>
        <translation>矩阵乘法的正常范围来自同类显卡的公开测速结果，并略微放宽。显存带宽是厂商数据的 {low_copy}% 到 {high_copy}%，向显卡复制是插槽速度的 {low_way}% 到 {high_way}%，这两项是我们自己的经验值。数据日期：{date}。</translation>
    </message>
    <message>
        <source>Your {card} is {percent} slower than usual</source>
        <translation>你的 {card} 比同型号显卡的正常水平慢 {percent}</translation>
    </message>
    <message>
        <source>Your {card} is {least}–{most}% slower than usual</source>
        <translation>你的 {card} 比同型号显卡的正常水平慢 {least}%–{most}%</translation>
    </message>
    <message>
        <source>Compared with healthy cards of the same model: {workloads}.</source>
        <translation>与同型号的正常显卡对照的项目：{workloads}。</translation>
    </message>
    <message>
        <source>Your CPU can train small models</source>
        <translation>你的 CPU 可以训练小模型</translation>
    </message>
    <message>
        <source>PyTorch runs on your CPU</source>
        <translation>PyTorch 在你的 CPU 上运行</translation>
    </message>
    <message>
        <source>PyTorch runs on your {card}</source>
        <translation>PyTorch 在你的 {card} 上运行</translation>
    </message>
    <message>
        <source>Your {card} is faster than your CPU</source>
        <translation>你的 {card} 比 CPU 快</translation>
    </message>
    <message>
        <source>Your {card} is slower than your CPU</source>
        <translation>你的 {card} 比 CPU 慢</translation>
    </message>
    <message>
        <source>Your {card} is as fast as your CPU</source>
        <translation>你的 {card} 和 CPU 一样快</translation>
    </message>
    <message>
        <source>Compared with the middle of the usual range.</source>
        <translation>与正常范围的中间值相比。</translation>
    </message>
    <message>
        <source>Highest temperature: {temperature} °C.</source>
        <translation>最高温度 {temperature} °C。</translation>
    </message>
    <message>
        <source>Highest load before the test: {percent}.</source>
        <translation>测速前 GPU 占用最高 {percent}。</translation>
    </message>
</context>
<context>
    <name>HealthReport</name>
    <message>
        <source>Highest, °C</source>
        <translation>最高（°C）</translation>
    </message>
    <message>
        <source>Clock, MHz</source>
        <translation>频率（MHz）</translation>
    </message>
    <message>
        <source>Is this graphics card healthy?</source>
        <translation>这张显卡健康吗？</translation>
    </message>
    <message>
        <source>Power, W</source>
        <translation>功耗（W）</translation>
    </message>
    <message>
        <source>Slowed down, % of the time</source>
        <translation>降速时间占比（%）</translation>
    </message>
    <message>
        <source>Temperature, °C</source>
        <translation>温度（°C）</translation>
    </message>
    <message>
        <source>Tested with GPU Assistant. Contains no personal names, serial numbers or folder names.</source>
        <translation>由 GPU 助手测试。报告不含人名、序列号和文件夹。</translation>
    </message>
    <message>
        <source>Tested {when}</source>
        <translation>测试时间：{when}</translation>
    </message>
    <message>
        <source>Up to minute</source>
        <translation>到第几分钟</translation>
    </message>
    <message>
        <source>What this covers</source>
        <translation>这次测试涵盖的内容</translation>
    </message>
    <message>
        <source>What was tested</source>
        <translation>测试了什么</translation>
    </message>
</context>
<context>
    <name>ResultMessages</name>
    <message>
        <source>GPU vs CPU</source>
        <translation>显卡与 CPU 对比</translation>
    </message>
    <message>
        <source>Measured on the GPU</source>
        <translation>显卡的成绩</translation>
    </message>
    <message>
        <source>Measured on the GPUs</source>
        <translation>各张显卡的成绩</translation>
    </message>
    <message>
        <source>Measured on the CPU</source>
        <translation>CPU 的成绩</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>; </source>
        <translation>；</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU 线程</translation>
    </message>
    <message>
        <source>Clock under load</source>
        <translation>满载时频率</translation>
    </message>
    <message>
        <source>Limited by</source>
        <translation>限制频率的原因</translation>
    </message>
    <message>
        <source>In use before the test</source>
        <translation>测速前的占用</translation>
    </message>
    <message>
        <source>Measured before, not this time</source>
        <translation>以前测过、这次没测</translation>
    </message>
    <message>
        <source>Memory clock under load</source>
        <translation>满载时显存频率</translation>
    </message>
    <message>
        <source>Other programs on the card</source>
        <translation>其他程序占用显卡</translation>
    </message>
    <message>
        <source>Highest power</source>
        <translation>最大功率</translation>
    </message>
    <message>
        <source>Results checked</source>
        <translation>结果核对</translation>
    </message>
    <message>
        <source>Changed since then: {changed}.</source>
        <translation>此后的变化：{changed}。</translation>
    </message>
    <message>
        <source>Slowed down by heat or power</source>
        <translation>因过热或供电降速</translation>
    </message>
    <message>
        <source>Spread between runs</source>
        <translation>多次测量的波动</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Temperature, start to end</source>
        <translation>温度（开始到结束）</translation>
    </message>
    <message>
        <source>The full test takes up to 15 minutes per device and measures more.</source>
        <translation>完整测速每个设备最多 15 分钟，测的项目更多。</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>all correct</source>
        <translation>全部正确</translation>
    </message>
    <message>
        <source>at most {percent}%</source>
        <translation>最大 {percent}%</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>驱动</translation>
    </message>
    <message>
        <source>none</source>
        <translation>没有</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>没有</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>有</translation>
    </message>
    <message>
        <source>{checked} of {count}, no time for the rest</source>
        <translation>{count} 项中的 {checked} 项，其余来不及核对</translation>
    </message>
    <message>
        <source>{checked} correct, the rest not measured</source>
        <translation>{checked} 项正确，其余没有测到</translation>
    </message>
    <message>
        <source>{count} wrong</source>
        <translation>{count} 项有误</translation>
    </message>
    <message>
        <source>{first} → {last} °C</source>
        <translation>{first} → {last} °C</translation>
    </message>
    <message>
        <source>{first} → {last} °C, at most {most} °C</source>
        <translation>{first} → {last} °C，最高 {most} °C</translation>
    </message>
    <message>
        <source>{percent}%</source>
        <translation>{percent}%</translation>
    </message>
    <message>
        <source>{power} W of {limit} W</source>
        <translation>{power} W，上限 {limit} W</translation>
    </message>
    <message>
        <source>This test cannot be compared with the previous one ({when}): {why}.</source>
        <translation>这次无法与上一次（{when}）比较：{why}。</translation>
    </message>
    <message>
        <source>This test shows no significant difference from the previous one ({when}).</source>
        <translation>与上一次（{when}）相比，这次的差别没有超出正常波动。</translation>
    </message>
    <message>
        <source>This test was {percent}% faster than the previous one ({when}).</source>
        <translation>这次的速度比上一次（{when}）提高了 {percent}%。</translation>
    </message>
    <message>
        <source>This test was {percent}% slower than the previous one ({when}).</source>
        <translation>这次的速度比上一次（{when}）降低了 {percent}%。</translation>
    </message>
</context>
<context>
    <name>ResultsTable</name>
    <message>
        <source>estimated</source>
        <translation>推算</translation>
    </message>
    <message>
        <source>{size}, batch {batch}</source>
        <translation>{size}，批次 {batch}</translation>
    </message>
</context>
</TS>
