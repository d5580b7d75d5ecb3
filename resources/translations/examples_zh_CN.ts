<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>CodeView</name>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
</context>
<context>
    <name>ExampleDialog</name>
    <message>
        <source>Choose a folder with config.json and *.safetensors</source>
        <translation>请选择装有 config.json 和 *.safetensors 的文件夹</translation>
    </message>
    <message>
        <source>Choose a folder with a subfolder for each class</source>
        <translation>请选择一个文件夹，里面每一类各有一个子文件夹</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Choose a trained ResNet-18 model</source>
        <translation>请选择训练好的 ResNet-18 模型</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>总正确率</translation>
    </message>
    <message>
        <source>Example programs</source>
        <translation>示例程序</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>How far off the network still is. Training brings this down.</source>
        <translation>神经网络的答案离正确答案还有多远，训练会让它变小。</translation>
    </message>
    <message>
        <source>Pictures: {path}</source>
        <translation>图片：{path}</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>PyTorch is loading…</source>
        <translation>正在加载 PyTorch…</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>再运行一次</translation>
    </message>
    <message>
        <source>Save a copy…</source>
        <translation>保存副本…</translation>
    </message>
    <message>
        <source>Save the program</source>
        <translation>保存程序</translation>
    </message>
    <message>
        <source>Saved as {path}</source>
        <translation>已保存为 {path}</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stopped. Nothing was kept.</source>
        <translation>已停止，没有保存任何内容。</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>The program is starting…</source>
        <translation>程序正在启动…</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>每秒词元数</translation>
    </message>
    <message>
        <source>Use a trained model…</source>
        <translation>用训练好的模型…</translation>
    </message>
    <message>
        <source>Trained model: {path}</source>
        <translation>训练好的模型：{path}</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>运行结果</translation>
    </message>
    <message>
        <source>Don't use this model</source>
        <translation>不用这个模型</translation>
    </message>
    <message>
        <source>Open in VS Code</source>
        <translation>用 VS Code 打开</translation>
    </message>
    <message>
        <source>Install Pillow</source>
        <translation>安装 Pillow</translation>
    </message>
    <message>
        <source>Speed: {values}</source>
        <translation>速度：{values}</translation>
    </message>
    <message>
        <source>about {time} left</source>
        <translation>还需约 {time}</translation>
    </message>
    <message>
        <source>Choose another folder…</source>
        <translation>换一个文件夹…</translation>
    </message>
    <message>
        <source>The program</source>
        <translation>程序代码</translation>
    </message>
    <message>
        <source>Error (loss), lower is better: {values}</source>
        <translation>损失（loss，越低越好）：{values}</translation>
    </message>
    <message>
        <source>Next: {program}</source>
        <translation>下一个：{program}</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Correct below</source>
        <translation>下图正确</translation>
    </message>
    <message>
        <source>of {total}</source>
        <translation>/ {total}</translation>
    </message>
    <message>
        <source>Below each picture: the network's answer. It has never seen these pictures.</source>
        <translation>每张图下面是神经网络的答案，这些图它从没见过。</translation>
    </message>
    <message>
        <source>Run it again to see its output.</source>
        <translation>再运行一次，就能看到结果。</translation>
    </message>
</context>
<context>
    <name>Examples</name>
    <message>
        <source>A network learns to sort your own pictures. They stay on this computer.</source>
        <translation>神经网络学习给你自己的图片分类。图片不会离开这台电脑。</translation>
    </message>
    <message>
        <source>A small network learns to read digits. Nothing is downloaded.</source>
        <translation>让一个小神经网络学会认手写数字。数字由程序当场生成，不用下载任何东西。</translation>
    </message>
    <message>
        <source>Files left out because they cannot be read: {count}</source>
        <translation>无法读取、已跳过的文件：{count} 个</translation>
    </message>
    <message>
        <source>It writes {rate} tokens per second</source>
        <translation>每秒生成 {rate} 个词元</translation>
    </message>
    <message>
        <source>Language model speed</source>
        <translation>语言模型测速</translation>
    </message>
    <message>
        <source>It learned in {time} on {device} and was tested with pictures it had never seen.</source>
        <translation>在 {device} 上训练了 {time}，用从没见过的图片测试。</translation>
    </message>
    <message>
        <source>Shows how fast a language model writes here. It is untrained, so it writes nonsense, but as fast as a trained one. Nothing is downloaded.</source>
        <translation>测测语言模型在这台电脑上生成文字有多快。模型没有训练过，生成的内容没有意义，但速度和训练好的一样。不用下载任何东西。</translation>
    </message>
    <message>
        <source>Read digits</source>
        <translation>认数字</translation>
    </message>
    <message>
        <source>Sort my pictures</source>
        <translation>图片分类</translation>
    </message>
    <message>
        <source>Step {step} of {steps}</source>
        <translation>第 {step} 步，共 {steps} 步</translation>
    </message>
    <message>
        <source>The program has finished</source>
        <translation>程序运行完毕</translation>
    </message>
    <message>
        <source>Token {step} of {steps}</source>
        <translation>第 {step} 个词元，共 {steps} 个</translation>
    </message>
    <message>
        <source>Your network reads {percent}% of the digits</source>
        <translation>你的神经网络认对了 {percent}% 的数字</translation>
    </message>
    <message>
        <source>Your network sorts {percent}% of the pictures correctly</source>
        <translation>你的神经网络分对了 {percent}% 的图片</translation>
    </message>
    <message>
        <source>{millions} million weights on {device}, in {time}. One token is about three quarters of a word.</source>
        <translation>模型有 {millions}M（百万）个权重，在 {device} 上运行了 {time}。一个词元（token）约为四分之三个英文单词。</translation>
    </message>
    <message>
        <source>Press Run and watch the network learn to read.</source>
        <translation>点“运行”，看神经网络怎样学会认数字。</translation>
    </message>
    <message>
        <source>Choose a folder with a subfolder for each class, such as “cats” and “dogs”, and at least 20 pictures in each.</source>
        <translation>选一个文件夹，里面每一类各有一个子文件夹，例如“猫”和“狗”，每类至少 20 张图片。</translation>
    </message>
    <message>
        <source>Press Run to see how many tokens per second it writes.</source>
        <translation>点“运行”，看它每秒能生成多少个词元。</translation>
    </message>
    <message>
        <source>My first program: reading digits</source>
        <translation>我的第一个程序：认数字</translation>
    </message>
    <message>
        <source>Sorting my own pictures</source>
        <translation>给自己的图片分类</translation>
    </message>
    <message>
        <source>How fast a language model writes</source>
        <translation>语言模型生成文字有多快</translation>
    </message>
    <message>
        <source>Shows how fast your language model writes on this computer.</source>
        <translation>测测你的语言模型在这台电脑上生成文字有多快。</translation>
    </message>
    <message>
        <source>The program stopped before the end</source>
        <translation>程序没有运行完</translation>
    </message>
    <message>
        <source>The program could not start</source>
        <translation>程序无法启动</translation>
    </message>
</context>
<context>
    <name>PictureGrid</name>
    <message>
        <source>{right} of {total} correct</source>
        <translation>{total} 张里对了 {right} 张</translation>
    </message>
</context>
</TS>
