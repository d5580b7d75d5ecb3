<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>BenchResultView</name>
    <message>
        <source>Measured</source>
        <translation>测得结果</translation>
    </message>
    <message>
        <source>Was it a fair test?</source>
        <translation>这次测得公平吗？</translation>
    </message>
    <message>
        <source>Your own past</source>
        <translation>以前的成绩</translation>
    </message>
    <message>
        <source>The green bracket holds the middle half of the runs.</source>
        <translation>绿色括号里是居中一半的测量值。</translation>
    </message>
</context>
<context>
    <name>BenchmarkPage</name>
    <message>
        <source>Measure again</source>
        <translation>再测一次</translation>
    </message>
    <message>
        <source>How fast, and is that right?</source>
        <translation>有多快，对不对？</translation>
    </message>
    <message>
        <source>Benchmark</source>
        <translation>测速</translation>
    </message>
    <message>
        <source>A simulated machine cannot be measured: nothing is executed for it.</source>
        <translation>模拟的电脑没法测速：不会为它执行任何操作。</translation>
    </message>
    <message>
        <source>There is no environment to measure yet. The setup makes one in a few minutes.</source>
        <translation>还没有可以测速的环境，几分钟就能装好一个。</translation>
    </message>
    <message>
        <source>About 1 minute. The fan may get loud.</source>
        <translation>约 1 分钟，风扇可能会变响。</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>开始测速</translation>
    </message>
    <message>
        <source>Set up PyTorch</source>
        <translation>安装 PyTorch</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Other programs that work meanwhile make the figures lower.</source>
        <translation>测速时其他程序在忙，成绩会偏低。</translation>
    </message>
    <message>
        <source>Starting PyTorch…</source>
        <translation>正在启动 PyTorch…</translation>
    </message>
    <message>
        <source>{n} of {of} · {size}</source>
        <translation>第 {n} 项，共 {of} 项 · {size}</translation>
    </message>
</context>
<context>
    <name>ResultRow</name>
    <message>
        <source>{name}, {device}: {value}, half of the runs from {low} to {high}</source>
        <translation>{name}，{device}：{value}，一半的测量在 {low} 到 {high} 之间</translation>
    </message>
</context>
<context>
    <name>Scores</name>
    <message>
        <source>Measured before, not this time</source>
        <translation>以前测过、这次没测</translation>
    </message>
    <message>
        <source>{workload}, {dtype}</source>
        <translation>{workload}（{dtype}）</translation>
    </message>
    <message>
        <source>{size}, worked out from a smaller size</source>
        <translation>{size}，由较小的尺寸推算</translation>
    </message>
    <message>
        <source>{size}, {runs} runs</source>
        <translation>{size}，测 {runs} 次</translation>
    </message>
    <message>
        <source>{times}×</source>
        <translation>{times} 倍</translation>
    </message>
    <message>
        <source>The GPU is {times} times as fast as the CPU</source>
        <translation>显卡的速度是 CPU 的 {times} 倍</translation>
    </message>
    <message>
        <source>{name} on the CPU</source>
        <translation>{name}，用 CPU</translation>
    </message>
    <message>
        <source>{threads} threads</source>
        <translation>{threads} 个线程</translation>
    </message>
    <message>
        <source>{billions} billion operations a second</source>
        <translation>每秒 {hundred_millions} 亿次运算</translation>
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
        <source>Results checked</source>
        <translation>结果核对</translation>
    </message>
    <message>
        <source>all right</source>
        <translation>全部正确</translation>
    </message>
    <message>
        <source>{checked} of {count}</source>
        <translation>{count} 项中的 {checked} 项</translation>
    </message>
    <message>
        <source>Spread between runs</source>
        <translation>多次测量的波动</translation>
    </message>
    <message>
        <source>at most {percent} %</source>
        <translation>最大 {percent}%</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU 线程</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
</context>
</TS>
