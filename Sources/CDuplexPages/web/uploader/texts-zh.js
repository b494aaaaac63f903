// Simplified Chinese, which has one form for all counts.

/** @type {Record<keyof typeof import("./texts-en.js").english, any>} */
export const chinese = {
    skip: "跳到文件列表", search: "在此文件夹中搜索", crumbs: "文件夹路径", tools: "工具", root: "主目录",
    language: "语言", keys: "键盘快捷键", close: "关闭", cancel: "取消", undo: "撤销", create: "创建",

    upload: "上传文件", uploadFolder: "上传文件夹", newFolder: "新建文件夹", trash: "回收站",
    emptyTrash: "清空回收站", back: "返回文件",
    name: "名称", size: "大小", changed: "修改时间", deletedAt: "删除时间", selectAll: "全选",
    selectOne: "选择“{name}”", open: "打开", download: "下载", rename: "重命名", renameOne: "“{name}”的新名称",
    move: "移动", copy: "复制", restore: "还原", delete: "删除", selection: "所选项目",
    unselect: "取消选择",

    count: "{count} 个项目", selected: "已选择 {count} 项", found: "找到 {count} 个项目",
    free: "可用空间 {free}", freeOf: "可用空间 {free}，共 {quota}",
    isEmpty: "此文件夹是空的。把文件拖放到这里，或点击“上传文件”。", isEmptyToRead: "此文件夹是空的。",
    nothingFound: "没有名称包含“{text}”的项目。", trashEmpty: "回收站是空的。",
    cut: "还有更多项目未显示。", results: "“{text}”的搜索结果", readOnly: "只读",

    unreachable: "无法连接服务器。", offline: "与服务器的连接已断开，正在重试…",
    online: "已重新连接服务器。", refused: "服务器拒绝了请求：{status}。",
    strangeAnswer: "服务器的应答无法理解。",

    created: "已创建文件夹“{name}”", renamed: "“{old}”已改名为“{name}”", deletedOne: "“{name}”已移入回收站",
    deleted: "{count} 个项目已移入回收站", restored: "已还原 {count} 个项目",
    moved: "已将 {count} 个项目移动到“{folder}”", copied: "已将 {count} 个项目复制到“{folder}”",
    cutOut: "已剪切 {count} 个项目：请在目标文件夹中粘贴", copiedOut: "已复制 {count} 个项目：请在目标文件夹中粘贴",
    emptied: "回收站已清空", undone: "已撤销", nothingToUndo: "没有可撤销的操作",
    emptyQuestion: "回收站中的所有项目将被永久删除，此操作无法撤销。",
    fullQuestion: "磁盘已满，回收站没有空间。要永久删除吗？此操作无法撤销。", deletedForever: "已永久删除",

    nameMissing: "请输入名称。", nameSlash: "名称不能包含斜杠。", nameDot: "名称不能以点开头。",
    clashTitle: "名称已被占用", clash: "“{folder}”中已有名为“{name}”的项目。", forAll: "对其余项目执行相同操作",
    replace: "替换", keepBoth: "保留两者", skip1: "跳过",
    folders: "文件夹", up: "上一级", noFolders: "这里没有文件夹。", moveHere: "移动到此处", copyHere: "复制到此处",
    moveTitle: "将 {count} 个项目移动到", copyTitle: "将 {count} 个项目复制到",

    previous: "上一个", next: "下一个", ofCount: "第 {place} 个，共 {count} 个", noPreview: "此文件无法预览。",
    onlyBeginning: "仅显示前 {size}",

    dropHere: "松开即可上传到“{folder}”", dropReadOnly: "此处不能上传", pasted: "粘贴",
    uploading: "正在上传第 {done} 个，共 {count} 个", sentOf: "{sent} / {total}", perSecond: "{size}/秒",
    left: "剩余 {time}",
    uploaded: "已上传 {count} 个文件", noneUploaded: "没有上传任何文件",
    failedCount: "{count} 个失败", unfinished: "未完成的上传",
    upload_waiting: "等待中", upload_retrying: "连接已断开，正在重试", upload_asking: "名称已被占用",
    upload_paused: "已暂停", upload_done: "完成", upload_skipped: "已跳过", upload_cancelled: "已取消",
    pauseOne: "暂停“{name}”", resumeOne: "继续“{name}”", againOne: "重试“{name}”", cancelOne: "取消“{name}”",
    hideOne: "从列表中移除“{name}”", forgetOne: "放弃“{name}”", pauseAll: "全部暂停", resumeAll: "全部继续",
    cancelAll: "全部取消", details: "详细信息", more: "还有 {count} 个",
    interrupted: "已上传 {share}，位于“{folder}”", chooseAgain: "重新选择此文件",
    otherFile: "所选文件不是“{name}”。",

    keyMove: "移到其他行", keyOpen: "打开", keyUp: "上一级文件夹", keySelect: "选择或取消选择",
    keyRange: "选择一段", keyAll: "全选", keyRename: "重命名", keyDelete: "移入回收站",
    keyUndo: "撤销", keyPaste: "复制、剪切、粘贴（包括文件）", keyEscape: "取消选择", keySearch: "搜索",
};
