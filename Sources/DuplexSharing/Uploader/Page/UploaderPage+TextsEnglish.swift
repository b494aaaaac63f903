// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension UploaderPage {
    /// The words in English.
    static let englishTexts = #"""
        // English. A text with forms is chosen by `{count}`.

        export const english = {
            skip: "Skip to the files", search: "Search in this folder", crumbs: "Folders", tools: "Tools", root: "Home",
            language: "Language", keys: "Keyboard", close: "Close", cancel: "Cancel", undo: "Undo", create: "Create",

            upload: "Upload files", uploadFolder: "Upload a folder", newFolder: "New folder", trash: "Trash",
            emptyTrash: "Empty the trash", back: "Back to the files",
            name: "Name", size: "Size", changed: "Changed", deletedAt: "Deleted", selectAll: "Select all",
            selectOne: "Select {name}", open: "Open", download: "Download", rename: "Rename",
            renameOne: "New name of {name}",
            move: "Move", copy: "Copy", restore: "Restore", delete: "Delete", selection: "Selection",
            unselect: "Clear the selection",

            count: { one: "{count} item", other: "{count} items" },
            selected: { one: "{count} selected", other: "{count} selected" },
            found: { one: "{count} item found", other: "{count} items found" },
            free: "{free} free", freeOf: "{free} free of {quota}",
            isEmpty: "This folder is empty. Drop files here, or choose “Upload files”.",
            isEmptyToRead: "This folder is empty.",
            nothingFound: "Nothing here is called “{text}”.", trashEmpty: "The trash is empty.",
            cut: "There is more than is shown.", results: "Results for “{text}”", readOnly: "Read only",

            unreachable: "The server can’t be reached.", offline: "No connection to the server. Trying again…",
            online: "The server is there again.", refused: "The server refused: {status}.",
            strangeAnswer: "The server has given an answer that makes no sense.",

            created: "Folder “{name}” created", renamed: "“{old}” is now “{name}”",
            deletedOne: "“{name}” is in the trash",
            deleted: { one: "{count} item is in the trash", other: "{count} items are in the trash" },
            restored: { one: "{count} item restored", other: "{count} items restored" },
            moved: { one: "{count} item moved to “{folder}”", other: "{count} items moved to “{folder}”" },
            copied: { one: "{count} item copied to “{folder}”", other: "{count} items copied to “{folder}”" },
            cutOut: { one: "{count} item to be moved: paste it elsewhere",
            other: "{count} items to be moved: paste them elsewhere" },
            copiedOut: { one: "{count} item to be copied: paste it anywhere",
            other: "{count} items to be copied: paste them anywhere" },
            emptied: "The trash is empty now", undone: "Undone", nothingToUndo: "There is nothing to undo",
            emptyQuestion: "What is in the trash is deleted for good. This can’t be undone.",
            fullQuestion: "The disk is full, and there is no room in the trash. Delete it for good? This can’t be undone.",
            deletedForever: "Deleted for good",

            nameMissing: "A name is needed.", nameSlash: "A name can’t hold a slash.",
            nameDot: "A name can’t begin with a dot.",
            clashTitle: "This name is taken", clash: "There is a “{name}” in “{folder}” already.",
            forAll: "The same for all others",
            replace: "Replace", keepBoth: "Keep both", skip1: "Skip",
            folders: "Folders", up: "Up", noFolders: "There are no folders here.", moveHere: "Move here",
            copyHere: "Copy here",
            moveTitle: { one: "Move {count} item to", other: "Move {count} items to" },
            copyTitle: { one: "Copy {count} item to", other: "Copy {count} items to" },

            previous: "Previous", next: "Next", ofCount: "{place} of {count}",
            noPreview: "There is no preview of this file.",
            onlyBeginning: "only the first {size} are shown",

            dropHere: "Drop to upload into “{folder}”", dropReadOnly: "Nothing can be uploaded here", pasted: "Pasted",
            uploading: "Uploading {done} of {count}", sentOf: "{sent} of {total}", perSecond: "{size}/s",
            left: "{time} left",
            uploaded: { one: "{count} file uploaded", other: "{count} files uploaded" },
            noneUploaded: "Nothing uploaded",
            failedCount: { one: "{count} failed", other: "{count} failed" }, unfinished: "Not finished",
            upload_waiting: "Waiting", upload_retrying: "No connection; trying again",
            upload_asking: "The name is taken",
            upload_paused: "Paused", upload_done: "Done", upload_skipped: "Skipped", upload_cancelled: "Cancelled",
            pauseOne: "Pause {name}", resumeOne: "Resume {name}", againOne: "Try {name} again",
            cancelOne: "Cancel {name}",
            hideOne: "Remove {name} from this list", forgetOne: "Forget {name}", pauseAll: "Pause all",
            resumeAll: "Resume all",
            cancelAll: "Cancel all", details: "Details", more: { one: "and {count} more", other: "and {count} more" },
            interrupted: "{share} are in “{folder}”", chooseAgain: "Choose the file again",
            otherFile: "That is another file than “{name}”.",

            keyMove: "Go to another row", keyOpen: "Open", keyUp: "Go to the folder above",
            keySelect: "Select or unselect",
            keyRange: "Select a range", keyAll: "Select all", keyRename: "Rename", keyDelete: "Delete into the trash",
            keyUndo: "Undo", keyPaste: "Copy, move, paste; files too", keyEscape: "Clear the selection",
            keySearch: "Search",
        };

        """#
}
