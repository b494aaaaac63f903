// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension UploaderPage {
    /// The markup, in which `{{name}}` stands for a text of the app.
    static let html = #"""
        <!doctype html>
        <html lang="en" data-logo="{{logo}}" data-piece="{{piece}}" data-parallel="{{parallel}}">
        <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
            <meta name="color-scheme" content="light dark">
            <title>{{title}}</title>
            <link rel="icon" href="assets/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="assets/theme.css">
            <link rel="stylesheet" href="assets/list.css">
            <link rel="stylesheet" href="assets/panels.css">
            <script type="module" src="assets/app.js"></script>
        </head>
        <body>
            <button type="button" class="skip" id="skip" data-text="skip">Skip to the files</button>

            <header class="masthead">
                <span id="logo"></span>
                <div class="titles">
                    <h1 id="title">{{title}}</h1>
                    <p class="lede">{{header}}</p>
                </div>
                <form id="search-form" role="search">
                    <span data-icon="search"></span>
                    <input id="search" type="search" autocomplete="off" spellcheck="false" enterkeyhint="search"
                        data-label="search" data-hint="search" aria-label="Search" placeholder="Search">
                </form>
            </header>

            <noscript><p class="notice">This page needs JavaScript.</p></noscript>
            <p class="notice" id="offline" role="status" hidden></p>

            <main>
                <p class="prologue">{{prologue}}</p>

                <div class="bar">
                    <nav id="crumbs" data-label="crumbs" aria-label="Folders"><ol id="crumb-list"></ol></nav>
                    <div class="tools" id="tools" role="toolbar" data-label="tools" aria-label="Tools">
                        <button type="button" class="primary" id="upload" data-icon="upload"><span
                            data-text="upload">Upload files</span></button>
                        <button type="button" id="upload-folder" data-icon="uploadFolder"><span
                            data-text="uploadFolder">Upload a folder</span></button>
                        <button type="button" id="new-folder" data-icon="newFolder"><span
                            data-text="newFolder">New folder</span></button>
                        <button type="button" id="empty-trash" data-icon="trash" hidden><span
                            data-text="emptyTrash">Empty the trash</span></button>
                        <button type="button" class="quiet" id="show-trash" data-icon="trash"><span
                            data-text="trash">Trash</span></button>
                    </div>
                </div>

                <section class="card" id="card" aria-labelledby="place" tabindex="-1">
                    <div class="grid" id="grid" role="grid" aria-multiselectable="true" aria-labelledby="place">
                        <div role="rowgroup" class="head">
                            <div role="row" class="row">
                                <span role="columnheader" class="check"><input type="checkbox" id="select-all"
                                    data-label="selectAll" aria-label="Select all"></span>
                                <span role="columnheader" class="name" id="column-name"><button type="button"
                                    data-sort="name" data-text="name">Name</button></span>
                                <span role="columnheader" class="size" id="column-size"><button type="button"
                                    data-sort="size" data-text="size">Size</button></span>
                                <span role="columnheader" class="date" id="column-date"><button type="button"
                                    data-sort="date" data-text="changed">Changed</button></span>
                            </div>
                        </div>
                        <div role="rowgroup" class="rows" id="rows"></div>
                    </div>
                    <div class="empty" id="empty" hidden>
                        <span data-icon="folderOpen"></span>
                        <p id="empty-text"></p>
                    </div>
                    <p class="cut" id="cut" data-text="cut" hidden>Only a part is shown.</p>
                    <div class="busy" id="busy" hidden></div>
                </section>
                <p class="status"><span id="count"></span><span id="space"></span></p>

                <div class="selection" id="selection" role="toolbar" data-label="selection" aria-label="Selection"
                    hidden>
                    <button type="button" id="unselect" class="quiet" data-icon="close" data-label="unselect"></button>
                    <span id="selected-count"></span>
                    <button type="button" id="open" data-icon="eye" data-say="open"></button>
                    <button type="button" id="download" data-icon="download" data-say="download"></button>
                    <button type="button" id="rename" data-icon="rename" data-say="rename"></button>
                    <button type="button" id="move" data-icon="move" data-say="move"></button>
                    <button type="button" id="copy" data-icon="copy" data-say="copy"></button>
                    <button type="button" id="restore" data-icon="restore" data-say="restore"></button>
                    <button type="button" id="delete" class="danger" data-icon="trash" data-say="delete"></button>
                </div>
                <p class="epilogue">{{epilogue}}</p>
            </main>

            <section class="uploads" id="uploads" aria-labelledby="uploads-title" hidden>
                <header>
                    <h2 id="uploads-title"></h2>
                    <button type="button" class="quiet" id="uploads-pause" data-icon="pause"></button>
                    <button type="button" class="quiet" id="uploads-fold" data-icon="fold" aria-expanded="true"
                        aria-controls="upload-items" data-label="details"></button>
                    <button type="button" class="quiet" id="uploads-close" data-icon="close"></button>
                </header>
                <progress id="uploads-progress" max="1" value="0" aria-labelledby="uploads-title"></progress>
                <p class="soft" id="uploads-state"></p>
                <ul id="upload-items"></ul>
            </section>

            <div class="toasts" id="toasts"></div>
            <p class="spoken" id="live" role="status" aria-live="polite"></p>
            <div class="drop" id="drop" hidden><p><span data-icon="upload"></span><span id="drop-text"></span></p></div>
            <input type="file" id="files" multiple hidden data-label="upload" aria-label="Upload files">
            <input type="file" id="folder" webkitdirectory multiple hidden data-label="uploadFolder"
                aria-label="Upload a folder">
            <input type="file" id="again" hidden data-label="chooseAgain" aria-label="Choose the file again">

            <footer>
                <p>{{footer}}</p>
                <label class="language"><span data-text="language">Language</span>
                    <select id="language"></select></label>
                <button type="button" class="quiet" id="keys" data-text="keys">Keyboard</button>
            </footer>
        </body>
        </html>

        """#
}
