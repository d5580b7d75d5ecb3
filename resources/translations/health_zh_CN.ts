<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Health</name>
    <message>
        <source>running for {time}</source>
        <translation>已用 {time}</translation>
    </message>
    <message>
        <source>about {time} left</source>
        <translation>还需约 {time}</translation>
    </message>
    <message>
        <source>less than 1 minute in all</source>
        <translation>全程不到 1 分钟</translation>
    </message>
    <message>
        <source>a few minutes in all</source>
        <translation>全程几分钟</translation>
    </message>
    <message>
        <source>then {time} of full load</source>
        <translation>之后满载 {time}</translation>
    </message>
    <message>
        <source>; </source>
        <translation>；</translation>
    </message>
    <message>
        <source>A simulated computer cannot be tested: nothing is executed on it.</source>
        <translation>模拟的电脑无法体检：不会执行任何操作。</translation>
    </message>
    <message>
        <source>All cards</source>
        <translation>全部显卡</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Clock: {least} to {most} MHz</source>
        <translation>频率：{least} 到 {most} MHz</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy the result</source>
        <translation>复制结果</translation>
    </message>
    <message>
        <source>Full load for</source>
        <translation>满载时长</translation>
    </message>
    <message>
        <source>Slowed down by heat or the power supply: never</source>
        <translation>没有因过热或供电而降速</translation>
    </message>
    <message>
        <source>Slowed down for {percent}% of the time: {reasons}</source>
        <translation>{percent}% 的时间被迫降速：{reasons}</translation>
    </message>
    <message>
        <source>Choose a test</source>
        <translation>选择体检类型</translation>
    </message>
    <message>
        <source>Is your graphics card healthy?</source>
        <translation>你的显卡健康吗？</translation>
    </message>
    <message>
        <source>Testing your graphics card</source>
        <translation>正在体检显卡</translation>
    </message>
    <message>
        <source>Result of the health test</source>
        <translation>体检结果</translation>
    </message>
    <message>
        <source>{level}: {verdict}</source>
        <translation>{level}：{verdict}</translation>
    </message>
    <message>
        <source>Show less</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Stopped. Nothing was tested yet.</source>
        <translation>已停止，还没有测试任何项目。</translation>
    </message>
    <message>
        <source>Stopped. What was tested so far is shown below, without a verdict.</source>
        <translation>已停止。已测试的结果见下方，不作结论。</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Temperature: {first} °C at the start, {most} °C at most</source>
        <translation>温度：开始 {first} °C，最高 {most} °C</translation>
    </message>
    <message>
        <source>This PyTorch cannot use the card, so the calculations would run only on the CPU. To test the card, set up PyTorch again with CUDA.</source>
        <translation>已安装的 PyTorch 用不了显卡，计算只会在 CPU 上进行。要测试显卡，请重新安装带 CUDA 的 PyTorch。</translation>
    </message>
    <message>
        <source>This test needs PyTorch, which is not set up yet. The quick check works without it.</source>
        <translation>这种体检要用 PyTorch 计算，而 PyTorch 尚未安装。快速检查不需要它。</translation>
    </message>
    <message>
        <source>What the card did in {duration}</source>
        <translation>测试期间（{duration}）显卡的表现</translation>
    </message>
    <message>
        <source>What was tested</source>
        <translation>测试的项目</translation>
    </message>
    <message>
        <source>Which card</source>
        <translation>选择显卡</translation>
    </message>
    <message>
        <source>not tested</source>
        <translation>未测试</translation>
    </message>
    <message>
        <source>passed</source>
        <translation>通过</translation>
    </message>
    <message>
        <source>needs attention</source>
        <translation>需要留意</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>未通过</translation>
    </message>
    <message>
        <source>wrong results: {count}</source>
        <translation>错误结果：{count}</translation>
    </message>
    <message>
        <source>{count} min</source>
        <translation>{count} 分钟</translation>
    </message>
    <message>
        <source>Less than 1 minute</source>
        <translation>不到 1 分钟</translation>
    </message>
    <message>
        <source>A few seconds</source>
        <translation>几秒</translation>
    </message>
    <message>
        <source>See below for what to do.</source>
        <translation>处理办法见下方。</translation>
    </message>
    <message>
        <source>Nothing could be tested here</source>
        <translation>没有可以测试的项目</translation>
    </message>
    <message>
        <source>See below for the reason.</source>
        <translation>原因见下方。</translation>
    </message>
    <message>
        <source>Something needs attention</source>
        <translation>有需要留意的地方</translation>
    </message>
    <message>
        <source>The card works, but it runs hot</source>
        <translation>显卡可以正常工作，但温度偏高</translation>
    </message>
    <message>
        <source>Next test</source>
        <translation>下一次体检</translation>
    </message>
    <message>
        <source>It works, but something needs attention</source>
        <translation>可以正常工作，但有需要留意的地方</translation>
    </message>
    <message>
        <source>It works, but {state}</source>
        <translation>可以正常工作，但{state}</translation>
    </message>
    <message>
        <source>There is a problem</source>
        <translation>有问题</translation>
    </message>
    <message>
        <source>The benchmark is using the card. Test the card when the benchmark is done.</source>
        <translation>显卡正在测速。请等测速结束后再体检。</translation>
    </message>
    <message>
        <source>Reads each card's state from the driver, without calculations.</source>
        <translation>从驱动读取每张显卡的状态，不做计算。</translation>
    </message>
    <message>
        <source>A few minutes</source>
        <translation>几分钟</translation>
    </message>
    <message>
        <source>testing now</source>
        <translation>正在测试</translation>
    </message>
    <message>
        <source>to come</source>
        <translation>待测</translation>
    </message>
    <message>
        <source>Testing now: {area}</source>
        <translation>正在测试：{area}</translation>
    </message>
    <message>
        <source>{percent} of the test</source>
        <translation>已完成 {percent}</translation>
    </message>
    <message>
        <source>the card</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>1 check passed</source>
        <translation>1 项检查通过</translation>
    </message>
    <message>
        <source>{count} checks passed</source>
        <translation>{count} 项检查通过</translation>
    </message>
    <message>
        <source>Show passed checks</source>
        <translation>查看通过的项目</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>What is tested</source>
        <translation>测试哪些项目</translation>
    </message>
    <message>
        <source>You can cancel at any time. It stops by itself if the card gets too hot.</source>
        <translation>可以随时取消。显卡过热时会自动停止。</translation>
    </message>
    <message>
        <source>Starting the test…</source>
        <translation>正在开始测试…</translation>
    </message>
    <message>
        <source>Show what was not tested, and why</source>
        <translation>查看未测试的项目和原因</translation>
    </message>
    <message>
        <source>The stress test covers some of these.</source>
        <translation>其中一部分会在压力测试中检查。</translation>
    </message>
    <message>
        <source>At the end: what the driver reported during the test</source>
        <translation>最后：核对测试期间驱动报告的情况</translation>
    </message>
    <message>
        <source>For a new, used or crashing card: runs calculations and checks the results. Nothing is changed.</source>
        <translation>新卡、二手卡，或者总出错时：让显卡做计算，逐一核对结果。不会改动任何东西。</translation>
    </message>
    <message>
        <source>At any time: checks the card and runs a small calculation.</source>
        <translation>随时可做：检查显卡状态，并做少量计算。</translation>
    </message>
    <message>
        <source>If programs crash: also runs a long full load and checks every result.</source>
        <translation>程序崩溃时：再让显卡长时间满载，逐一核对结果。</translation>
    </message>
    <message>
        <source>{count} failed</source>
        <translation>{count} 项未通过</translation>
    </message>
    <message>
        <source>{count} warnings</source>
        <translation>{count} 项需要留意</translation>
    </message>
    <message>
        <source>{count} not tested</source>
        <translation>{count} 项未测试</translation>
    </message>
    <message>
        <source>Other programs may run slower meanwhile. Nothing is changed.</source>
        <translation>测试期间其他程序可能变慢。不会改动任何东西。</translation>
    </message>
    <message>
        <source>More than {load}</source>
        <translation>超过 {load}</translation>
    </message>
    <message>
        <source>If results look wrong: also tests transfers, precision and memory.</source>
        <translation>结果可疑时：再检查数据传输、计算精度和空闲显存。</translation>
    </message>
    <message>
        <source>Start quick check</source>
        <translation>开始快速检查</translation>
    </message>
    <message>
        <source>Start thorough check</source>
        <translation>开始全面检查</translation>
    </message>
    <message>
        <source>Start stress test</source>
        <translation>开始压力测试</translation>
    </message>
    <message>
        <source>Repeat quick check</source>
        <translation>重做快速检查</translation>
    </message>
    <message>
        <source>Repeat thorough check</source>
        <translation>重做全面检查</translation>
    </message>
    <message>
        <source>Repeat stress test</source>
        <translation>重做压力测试</translation>
    </message>
    <message>
        <source>{headline}, and {count} more</source>
        <translation>{headline}，另有 {count} 项</translation>
    </message>
    <message>
        <source>took {time}</source>
        <translation>用时 {time}</translation>
    </message>
</context>
</TS>
