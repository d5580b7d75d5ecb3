<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>BenchmarkExporter</name>
    <message>
        <source>Save picture</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
</context>
<context>
    <name>BenchmarkPage</name>
    <message>
        <source>How fast is PyTorch on this computer?</source>
        <translation>PyTorch 在这台电脑上有多快？</translation>
    </message>
    <message>
        <source>Nothing to measure here</source>
        <translation>暂时不能测速</translation>
    </message>
    <message>
        <source>What you get</source>
        <translation>测完能看到</translation>
    </message>
    <message>
        <source>How your card compares with your CPU</source>
        <translation>显卡与 CPU 的速度对比</translation>
    </message>
    <message>
        <source>How long your CPU takes to train on 1,000 images</source>
        <translation>CPU 用 1,000 张图片训练要多久</translation>
    </message>
    <message>
        <source>Whether that is normal for your card</source>
        <translation>你的显卡速度是否正常</translation>
    </message>
    <message>
        <source>Whether heat, battery or other programs slow it down</source>
        <translation>有没有因过热、电池供电或其他程序而变慢</translation>
    </message>
    <message>
        <source>Whether it is faster or slower than last time</source>
        <translation>比上次快还是慢</translation>
    </message>
    <message>
        <source>A picture or a report to share</source>
        <translation>可以分享的图片或报告</translation>
    </message>
    <message>
        <source>What is measured</source>
        <translation>测什么</translation>
    </message>
    <message>
        <source>Training ResNet-50, a network that recognises images</source>
        <translation>训练 ResNet-50：识别图片的神经网络</translation>
    </message>
    <message>
        <source>Training BERT-base, a network that reads sentences</source>
        <translation>训练 BERT-base：理解句子的神经网络</translation>
    </message>
    <message>
        <source>Writing text with a small language model</source>
        <translation>用小型语言模型生成文字</translation>
    </message>
    <message>
        <source>Matrix multiplication, the core of every network</source>
        <translation>矩阵乘法：神经网络的核心运算</translation>
    </message>
    <message>
        <source>A simulated computer cannot be measured: nothing is executed on it.</source>
        <translation>模拟的电脑无法测速：不会执行任何操作。</translation>
    </message>
    <message>
        <source>About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to {time} more for all of them together. The fans may get loud.</source>
        <translation>CPU 约 1 分钟，每张显卡再加约 1 分钟；有多张显卡时，一起训练最多再加 {time}。风扇可能会变响。</translation>
    </message>
    <message>
        <source>About 1 minute. The fan may get loud.</source>
        <translation>约 1 分钟，风扇可能会变响。</translation>
    </message>
    <message>
        <source>Benchmark</source>
        <translation>测速</translation>
    </message>
    <message>
        <source>How fast is it, and is that normal?</source>
        <translation>有多快，是否正常？</translation>
    </message>
    <message>
        <source>Measures more sizes, each for longer. Close other programs first. “Cancel” stops it within a second and keeps the results so far.</source>
        <translation>完整测速会测更多尺寸，每一项也测得更久。测速时请关闭其他程序。随时可以按“取消”，一秒内就会停下，已测到的部分会保留。</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>开始测速</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不</translation>
    </message>
    <message>
        <source>Saved: {path}</source>
        <translation>已保存：{path}</translation>
    </message>
    <message>
        <source>Set up PyTorch</source>
        <translation>安装 PyTorch</translation>
    </message>
    <message>
        <source>Start the full test</source>
        <translation>开始完整测速</translation>
    </message>
    <message>
        <source>Start the full test?</source>
        <translation>开始完整测速吗？</translation>
    </message>
    <message>
        <source>Stopped. This run was not saved.</source>
        <translation>已停止，这次的结果没有保存。</translation>
    </message>
    <message>
        <source>The computer is calculating what fits in memory.</source>
        <translation>正在计算装得下哪些模型。</translation>
    </message>
    <message>
        <source>The environment was removed or moved. Setting up a new one takes a few minutes.</source>
        <translation>环境不见了：已被删除或移走。用几分钟就能重新装一个。</translation>
    </message>
    <message>
        <source>There is no environment to measure yet. Setting one up takes a few minutes.</source>
        <translation>还没有可以测速的环境，几分钟就能装好一个。</translation>
    </message>
    <message>
        <source>Up to 15 minutes for the CPU and 15 minutes for each GPU; with several GPUs up to {time} more for all of them together. The fans may get loud.</source>
        <translation>CPU 最多 15 分钟，每张显卡最多再加 15 分钟；有多张显卡时，一起训练最多再加 {time}。风扇可能会变响。</translation>
    </message>
    <message>
        <source>Up to 15 minutes. The fan may get loud.</source>
        <translation>最多 15 分钟，风扇可能会变响。</translation>
    </message>
    <message>
        <source>View</source>
        <translation>查看</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>The health test is running on the card. Measure when it is done.</source>
        <translation>显卡正在体检，体检完再测速。</translation>
    </message>
    <message>
        <source>What fits</source>
        <translation>装得下什么</translation>
    </message>
    <message>
        <source>Up to 30 minutes. The fans may get loud.</source>
        <translation>最多 30 分钟，风扇可能会变响。</translation>
    </message>
    <message>
        <source>About 2 minutes. The fans may get loud.</source>
        <translation>约 2 分钟，风扇可能会变响。</translation>
    </message>
    <message>
        <source>Which models this computer can run and train</source>
        <translation>这台电脑能运行和训练哪些模型</translation>
    </message>
    <message>
        <source>Measuring now: {workload} on the {device}</source>
        <translation>正在用 {device} 测：{workload}</translation>
    </message>
    <message>
        <source>The fans may get loud. Close other programs for a fair result. A cancelled run keeps its results so far.</source>
        <translation>风扇可能会变响。请关闭其他程序，否则成绩会偏低。取消后，已测到的部分会保留。</translation>
    </message>
    <message>
        <source>The fans may get loud. Close other programs for a fair result. A cancelled run is not saved.</source>
        <translation>风扇可能会变响。请关闭其他程序，否则成绩会偏低。取消后，本次成绩不会保存。</translation>
    </message>
    <message>
        <source>How fast a small language model writes</source>
        <translation>小型语言模型生成文字的速度</translation>
    </message>
    <message>
        <source>Copying data, which shows how fast the memory is</source>
        <translation>复制数据：看内存有多快</translation>
    </message>
    <message>
        <source>Not measured yet</source>
        <translation>还没有测过</translation>
    </message>
    <message>
        <source>Full test…</source>
        <translation>完整测速…</translation>
    </message>
    <message>
        <source>More accurate, up to 15 minutes</source>
        <translation>更精确，最多 15 分钟</translation>
    </message>
    <message>
        <source>More accurate, up to 30 minutes</source>
        <translation>更精确，最多 30 分钟</translation>
    </message>
    <message>
        <source>More accurate, up to 15 minutes plus 15 per GPU</source>
        <translation>更精确，最多 15 分钟，每张显卡再加 15 分钟</translation>
    </message>
</context>
<context>
    <name>BenchmarkResultView</name>
    <message>
        <source>Each row has its own scale.</source>
        <translation>各行的条形按各自的比例绘制。</translation>
    </message>
    <message>
        <source>Several GPUs train one model together.</source>
        <translation>多张显卡一起训练同一个模型。</translation>
    </message>
    <message>
        <source>Was it a fair test?</source>
        <translation>这次测得准吗？</translation>
    </message>
    <message>
        <source>times as fast</source>
        <translation>速度倍数</translation>
    </message>
    <message>
        <source>Not compared with other cards</source>
        <translation>未与同型号显卡对照</translation>
    </message>
    <message>
        <source>Large ones need a graphics card.</source>
        <translation>大模型需要显卡。</translation>
    </message>
    <message>
        <source>All bars share one scale: times as fast as the CPU.</source>
        <translation>所有条形都按速度倍数绘制：是 CPU 的多少倍。</translation>
    </message>
    <message>
        <source>Rows compared only with the CPU share one scale (times as fast), so their bars can be compared. Each other row has its own scale.</source>
        <translation>只与 CPU 对比的几行都按速度倍数绘制，可以互相比较；其余各行按各自的比例绘制。</translation>
    </message>
    <message>
        <source>We have no usual speeds for CPUs. Compare it with your earlier results.</source>
        <translation>CPU 没有可对照的正常速度，请和你以前的成绩比较。</translation>
    </message>
    <message>
        <source>We have no usual speeds for CPUs.</source>
        <translation>CPU 没有可对照的正常速度。</translation>
    </message>
</context>
<context>
    <name>ComparisonRow</name>
    <message>
        <source>usual for this card: {low} to {high}</source>
        <translation>这张卡的正常范围：{low} 到 {high}</translation>
    </message>
    <message>
        <source>{times} times as fast as the CPU</source>
        <translation>是 CPU 的 {times} 倍</translation>
    </message>
    <message>
        <source>usual {low}–{high}</source>
        <translation>正常 {low}–{high}</translation>
    </message>
    <message>
        <source>not compared with other cards</source>
        <translation>未与同型号显卡对照</translation>
    </message>
    <message>
        <source>{percent} slower</source>
        <translation>慢 {percent}</translation>
    </message>
</context>
<context>
    <name>ExpectedRangeCard</name>
    <message>
        <source>There are no reference figures for this card: too few results are known for this model, or it is a laptop card that does not report its power limit. Your own earlier results show whether it is getting slower.</source>
        <translation>这张卡没有可对照的数据：这个型号的公开结果太少，或者它是笔记本显卡，没有报告功率上限。和自己以前的成绩比，就能看出有没有变慢。</translation>
    </message>
    <message>
        <source>Sources</source>
        <translation>数据来源</translation>
    </message>
    <message>
        <source>above the usual range: {low} to {high} {unit}</source>
        <translation>高于正常范围：{low} 到 {high} {unit}</translation>
    </message>
    <message>
        <source>usual: {low} to {high} {unit}</source>
        <translation>正常：{low} 到 {high} {unit}</translation>
    </message>
    <message>
        <source>What is usual for this card</source>
        <translation>这张卡的正常范围</translation>
    </message>
    <message>
        <source>Where these ranges come from</source>
        <translation>正常范围的依据</translation>
    </message>
    <message>
        <source>Slower than usual: {below} of {count} measurements</source>
        <translation>{count} 项中有 {below} 项低于正常范围</translation>
    </message>
</context>
<context>
    <name>GpuLogCard</name>
    <message>
        <source>Read from the driver five times a second; clocks are medians under load. A card at its power limit is working at full power, as it should.</source>
        <translation>由驱动报告，每秒五次；频率是满载时的中位数。达到功率上限是正常的，说明显卡已全力运行。</translation>
    </message>
    <message>
        <source>What the card did during the test</source>
        <translation>测速时显卡的状态</translation>
    </message>
    <message>
        <source>What the cards did during the test</source>
        <translation>测速时各显卡的状态</translation>
    </message>
</context>
<context>
    <name>MemoryFitBars</name>
    <message>
        <source>1 GB of memory is 1,024 MB, as on the card's box. PyTorch writes GiB and MiB for the same.</source>
        <translation>1 GB 显存等于 1,024 MB，与显卡标称相同，PyTorch 写作 GiB 和 MiB。</translation>
    </message>
    <message>
        <source>Each bar shows the moment of highest memory use; not all gradients exist by then.</source>
        <translation>每个条形显示占用内存最多的那一刻，这时梯度还没有全部算出来。</translation>
    </message>
    <message>
        <source>Only what the training itself needs is counted; PyTorch's own libraries take a few hundred MB more.</source>
        <translation>这里只算训练本身需要的内存，PyTorch 本身的库还要另占几百 MB。</translation>
    </message>
    <message>
        <source>The earlier result: {title}</source>
        <translation>上一次的结果：{title}</translation>
    </message>
    <message>
        <source>A batch is the set of examples that the model learns from at once.</source>
        <translation>批次就是模型一次一起学习的那些样本。</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>收起</translation>
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
        <source>Details of the parts</source>
        <translation>各部分详情</translation>
    </message>
    <message>
        <source>Max. batch (approx.)</source>
        <translation>最大批次大小（约）</translation>
    </message>
</context>
<context>
    <name>MemoryFitMessages</name>
    <message>
        <source>Set batch size to {batch}</source>
        <translation>批次大小改为 {batch}</translation>
    </message>
    <message>
        <source>Show code: mixed precision</source>
        <translation>查看代码：混合精度</translation>
    </message>
    <message>
        <source>Show code: checkpointing</source>
        <translation>查看代码：检查点</translation>
    </message>
    <message>
        <source>Show code: gradient accumulation</source>
        <translation>查看代码：梯度累积</translation>
    </message>
    <message>
        <source>Show code: all methods</source>
        <translation>查看代码：全部方法</translation>
    </message>
    <message>
        <source>A batch of {batch} does not fit with any method that was measured. Use {smaller}.</source>
        <translation>批次大小 {batch} 用测过的方法都装不下，请改用 {smaller}。</translation>
    </message>
    <message>
        <source>A batch of {batch} does not fit with any method that was measured, and neither does a smaller one.</source>
        <translation>批次大小 {batch} 用测过的方法都装不下，更小的也不行。</translation>
    </message>
    <message>
        <source>Gradient accumulation</source>
        <translation>梯度累积</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>All together</source>
        <translation>全部一起用</translation>
    </message>
    <message>
        <source>Standard</source>
        <translation>标准</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>Checkpointing</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Temporary</source>
        <translation>临时占用</translation>
    </message>
    <message>
        <source>GPU with the most memory</source>
        <translation>显存最大的显卡</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Measuring small steps: {way}</source>
        <translation>正在用小批次实测：{way}</translation>
    </message>
    <message>
        <source>Mixed precision</source>
        <translation>混合精度</translation>
    </message>
    <message>
        <source>Optimizer state</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>calculates a batch in four parts: slightly slower</source>
        <translation>一个批次分成四份计算，合成一次更新：稍慢</translation>
    </message>
    <message>
        <source>calculates a batch in four parts: slightly slower, and BatchNorm sees fewer examples at once</source>
        <translation>一个批次分成四份计算，合成一次更新：稍慢，BatchNorm 每次看到的样本更少</translation>
    </message>
    <message>
        <source>checkpointing and gradient accumulation; mixed precision would not help here</source>
        <translation>检查点加梯度累积；混合精度对它没有帮助</translation>
    </message>
    <message>
        <source>recalculates parts instead of storing them: takes a third longer</source>
        <translation>部分结果不保存，用时再算：时间约多三分之一</translation>
    </message>
    <message>
        <source>calculates in 16 bits, keeps weights in 32</source>
        <translation>用 16 位计算，权重仍保留 32 位</translation>
    </message>
    <message>
        <source>Does not fit, not even a batch of 1</source>
        <translation>装不下，批次为 1 也不行</translation>
    </message>
    <message>
        <source>mixed precision, checkpointing and gradient accumulation</source>
        <translation>混合精度、检查点加梯度累积</translation>
    </message>
    <message>
        <source>reads sentences of 128 words</source>
        <translation>理解 128 个词的句子</translation>
    </message>
    <message>
        <source>recognises images of 224 × 224 pixels</source>
        <translation>识别 224 × 224 像素的图片</translation>
    </message>
    <message>
        <source>if there are several, the one with the most memory</source>
        <translation>有多张显卡时，用显存最大的那张</translation>
    </message>
    <message>
        <source>writes text; trained on whole paragraphs</source>
        <translation>生成文字，用整段文字训练</translation>
    </message>
    <message>
        <source>{part} {size}</source>
        <translation>{part} {size}</translation>
    </message>
    <message>
        <source>calculates everything in 32 bits</source>
        <translation>全部用 32 位计算</translation>
    </message>
    <message>
        <source>mixed precision</source>
        <translation>混合精度</translation>
    </message>
    <message>
        <source>checkpointing</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>gradient accumulation</source>
        <translation>梯度累积</translation>
    </message>
    <message>
        <source>all methods together</source>
        <translation>全部方法</translation>
    </message>
    <message>
        <source>A batch of {batch} does not fit. Use {smaller}, or keep {batch} with {way}.</source>
        <translation>批次大小 {batch} 装不下。可以改用 {smaller}，或者用{way}，批次大小仍为 {batch}。</translation>
    </message>
    <message>
        <source>A batch of {batch} does not fit. Keep {batch} with {way}.</source>
        <translation>批次大小 {batch} 装不下。可以用{way}，批次大小仍为 {batch}。</translation>
    </message>
    <message>
        <source>The numbers in which the model stores what it has learned.</source>
        <translation>模型用来保存所学内容的数。</translation>
    </message>
    <message>
        <source>How each parameter should change so that the model makes fewer mistakes. Usually calculated in the second half of a step: 0 MB means that there are none yet when memory use is highest.</source>
        <translation>表示每个参数该怎么改，模型才会少出错。梯度通常到每一步的后半程才算出来；0 MB 表示占用最高时还没有梯度。</translation>
    </message>
    <message>
        <source>What the optimizer keeps from earlier steps to improve its next updates.</source>
        <translation>优化器从以前各步积累的信息，用来更好地更新参数。</translation>
    </message>
    <message>
        <source>Intermediate results of the examples that are calculated at once; more examples need more memory.</source>
        <translation>计算样本时的中间结果，同时计算的样本越多，占得越多。</translation>
    </message>
    <message>
        <source>Working space that is needed only while the parameters are updated.</source>
        <translation>更新参数时临时用到的空间，用完就释放。</translation>
    </message>
    <message>
        <source>GPU memory that PyTorch keeps ready for later use.</source>
        <translation>PyTorch 预留、备以后使用的显存。</translation>
    </message>
    <message>
        <source>{model} fits with batch size {batch} ({device})</source>
        <translation>{model} 装得下（批次大小 {batch}，{device}）</translation>
    </message>
    <message>
        <source>{model}, batch size {batch} ({device})</source>
        <translation>{model}，批次大小 {batch}（{device}）</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>装不下</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>装得下</translation>
    </message>
    <message>
        <source>{size} usable</source>
        <translation>{size} 可用</translation>
    </message>
    <message>
        <source>Free when measured: {size}. A step can use it up to the dashed line; the rest is left for other programs and PyTorch's own overhead.</source>
        <translation>测量时空闲 {size}。其中可用的到虚线为止，其余留给其他程序和 PyTorch 的额外开销。</translation>
    </message>
    <message>
        <source>Calculated from small batches measured on this computer.</source>
        <translation>根据在这台电脑上实测的小批次推算。</translation>
    </message>
    <message>
        <source>Calculated from small batches measured on this computer, which varied a little: approximate.</source>
        <translation>根据在这台电脑上实测的小批次推算；几次实测略有出入，结果是近似值。</translation>
    </message>
    <message>
        <source>Free when measured: {size}. A step can use it up to the dashed line; the rest is left for the display, other programs and memory fragmentation.</source>
        <translation>测量时空闲 {size}。其中可用的到虚线为止，其余留给显示、其他程序和显存碎片。</translation>
    </message>
</context>
<context>
    <name>MemoryFitView</name>
    <message>
        <source>Takes {time} at most.</source>
        <translation>最多 {time}就会结束。</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>批次大小</translation>
    </message>
    <message>
        <source>After the first run, you see how long it takes here.</source>
        <translation>要多久，测过一次就知道了。</translation>
    </message>
    <message>
        <source>Last time it took {time} here.</source>
        <translation>上次在这台电脑上用了 {time}。</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>再测一次</translation>
    </message>
    <message>
        <source>Measures steps with 1 to 3 examples and projects the result to your batch size. After that, other batch sizes are calculated instantly.</source>
        <translation>先实测 1 到 3 个样本的训练步，再推算到你选的批次。之后换批次会立即得出结果。</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Shows before you train whether a model fits in memory and how large the batch can be. The batch size is how many examples the model learns from at once; a larger one needs more memory.</source>
        <translation>训练之前先看内存够不够，批次最大能到多少。批次大小（batch size）就是模型一次学习的样本数，越大越占内存。</translation>
    </message>
    <message>
        <source>Stopped before anything was measured.</source>
        <translation>已停止，还没有测到结果。</translation>
    </message>
    <message>
        <source>Stopped. The results so far are shown.</source>
        <translation>已停止，下面是已测到的部分。</translation>
    </message>
    <message>
        <source>Code for this method</source>
        <translation>对应的代码</translation>
    </message>
    <message>
        <source>Uses the Python package {name}, which this environment does not have yet. This installs it:</source>
        <translation>用到 Python 软件包 {name}，这个环境里还没有。用这条命令安装：</translation>
    </message>
    <message>
        <source>Uses the Python package {name}, which this environment does not have. We do not know which release matches this PyTorch, and with a wrong one neither would load.</source>
        <translation>用到 Python 软件包 {name}，这个环境里没有。我们不知道它的哪个版本与这个 PyTorch 配套；版本不配套，两者都无法加载。</translation>
    </message>
    <message>
        <source>Training method</source>
        <translation>训练方式</translation>
    </message>
    <message>
        <source>Measure on this computer</source>
        <translation>在这台电脑上实测</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>开始实测</translation>
    </message>
    <message>
        <source>batch size {count}</source>
        <translation>批次大小 {count}</translation>
    </message>
    <message>
        <source>Took {time} on a CPU with {cores} cores.</source>
        <translation>在一颗 {cores} 核的 CPU 上用了 {time}。</translation>
    </message>
    <message>
        <source>{model}, {batch}</source>
        <translation>{model}，{batch}</translation>
    </message>
</context>
<context>
    <name>ModelFitCard</name>
    <message>
        <source>Your {card} runs language models with up to {billions} billion parameters ({format})</source>
        <translation>你的 {card} 能运行最多 {hundred_millions} 亿参数的语言模型（{format}）</translation>
    </message>
    <message>
        <source>Longest text</source>
        <translation>最长文本</translation>
    </message>
    <message>
        <source>Models and the memory they need</source>
        <translation>各模型需要的显存</translation>
    </message>
    <message>
        <source>Image models</source>
        <translation>图像模型</translation>
    </message>
    <message>
        <source>Kind of model</source>
        <translation>模型种类</translation>
    </message>
    <message>
        <source>Language models</source>
        <translation>语言模型</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>{format}: {size}</source>
        <translation>{format}：{size}</translation>
    </message>
    <message>
        <source>Most images</source>
        <translation>一次最多</translation>
    </message>
    <message>
        <source>Max. batch size</source>
        <translation>最大批次大小</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>装得下</translation>
    </message>
    <message>
        <source>Estimated from published data ({date}); the actual need may be {percent} more or less.</source>
        <translation>按公开数据（{date}）估算，实际需要的显存可能多或少 {percent}。</translation>
    </message>
    <message>
        <source>{title} ({format})</source>
        <translation>{title}（{format}）</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>装不下</translation>
    </message>
    <message>
        <source>Parameters are the numbers that a model has learned; 7B in a name stands for 7 billion of them. 8-bit and 4-bit models are quantised: less precise, but they need less memory. A token is about three quarters of a word.</source>
        <translation>参数是模型学到的数值，名称中的 7B 表示 70 亿个参数。8 位和 4 位是量化过的模型：没那么精确，但占用的显存更少。一个词元（token）约为四分之三个英文单词。</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>怎么办</translation>
    </message>
    <message>
        <source>Show {count} models that do not fit</source>
        <translation>显示装不下的 {count} 个模型</translation>
    </message>
    <message>
        <source>Hide models that do not fit</source>
        <translation>收起装不下的模型</translation>
    </message>
    <message>
        <source>as released</source>
        <translation>原版</translation>
    </message>
    <message>
        <source>compressed</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>smallest</source>
        <translation>最小</translation>
    </message>
    <message>
        <source>in tokens</source>
        <translation>单位：词元</translation>
    </message>
    <message>
        <source>May just fit (up to {percent} below the limit)</source>
        <translation>可能刚好装得下（离上限不到 {percent}）</translation>
    </message>
</context>
<context>
    <name>ResultActions</name>
    <message>
        <source>Full test…</source>
        <translation>完整测速…</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>再测一次</translation>
    </message>
    <message>
        <source>As a picture…</source>
        <translation>保存为图片…</translation>
    </message>
    <message>
        <source>As a report…</source>
        <translation>保存为报告…</translation>
    </message>
    <message>
        <source>Save result</source>
        <translation>保存结果</translation>
    </message>
</context>
<context>
    <name>ResultsTable</name>
    <message>
        <source>All results</source>
        <translation>全部数据</translation>
    </message>
    <message>
        <source>Hide all results</source>
        <translation>收起全部数据</translation>
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
        <source>What</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>{runs} runs</source>
        <translation>共 {runs} 次</translation>
    </message>
</context>
<context>
    <name>RunHistoryCard</name>
    <message>
        <source>Your earlier results</source>
        <translation>以前的成绩</translation>
    </message>
</context>
<context>
    <name>RunningView</name>
    <message>
        <source>at most {time} left</source>
        <translation>最多还需 {time}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>PyTorch is loading…</source>
        <translation>正在加载 PyTorch…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>running for {time}</source>
        <translation>已用 {time}</translation>
    </message>
    <message>
        <source>the first time takes up to {time}</source>
        <translation>第一次最多要 {time}</translation>
    </message>
    <message>
        <source>{n} of {of}</source>
        <translation>第 {n} 项，共 {of} 项</translation>
    </message>
</context>
<context>
    <name>FinishedResultsCard</name>
    <message>
        <source>Measured so far</source>
        <translation>已测出的结果</translation>
    </message>
</context>
<context>
    <name>ComparisonKey</name>
    <message>
        <source>This test</source>
        <translation>这次</translation>
    </message>
    <message>
        <source>Usual range of healthy cards of this model</source>
        <translation>同型号显卡的正常范围</translation>
    </message>
    <message>
        <source>Your {card}, below its usual range</source>
        <translation>你的 {card}，低于正常范围</translation>
    </message>
    <message>
        <source>Below its usual range</source>
        <translation>低于正常范围</translation>
    </message>
    <message>
        <source>Your previous test ({date})</source>
        <translation>上一次（{date}）</translation>
    </message>
</context>
<context>
    <name>StackedBarRow</name>
    <message>
        <source>Costs least time</source>
        <translation>耗时最少</translation>
    </message>
    <message>
        <source>max. batch size about {batch}</source>
        <translation>最大批次大小约 {batch}</translation>
    </message>
</context>
</TS>
