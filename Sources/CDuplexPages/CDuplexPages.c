// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#include "CDuplexPages.h"

#include <string.h>

// In C before C23, `#embed` is an extension of the compiler's.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define PAGE(path) {path, (const unsigned char[]){
#define END , 0}},

/// Each ends in a zero, since they are texts, and is counted when it is asked for.
static const struct {
    const char *path;
    const unsigned char *text;
} files[] = {
    PAGE("demo/chat.js")
#embed "web/demo/chat.js"
    END
    PAGE("demo/connection.js")
#embed "web/demo/connection.js"
    END
    PAGE("demo/duplex.css")
#embed "web/demo/duplex.css"
    END
    PAGE("demo/duplex.js")
#embed "web/demo/duplex.js"
    END
    PAGE("demo/echo.js")
#embed "web/demo/echo.js"
    END
    PAGE("demo/feed.js")
#embed "web/demo/feed.js"
    END
    PAGE("demo/form.js")
#embed "web/demo/form.js"
    END
    PAGE("demo/format.js")
#embed "web/demo/format.js"
    END
    PAGE("demo/icon.svg")
#embed "web/demo/icon.svg"
    END
    PAGE("demo/index.html")
#embed "web/demo/index.html"
    END
    PAGE("demo/log.js")
#embed "web/demo/log.js"
    END
    PAGE("demo/texts-en.js")
#embed "web/demo/texts-en.js"
    END
    PAGE("demo/texts.js")
#embed "web/demo/texts.js"
    END
    PAGE("demo/upload.js")
#embed "web/demo/upload.js"
    END
    PAGE("inspector/ansi.js")
#embed "web/inspector/ansi.js"
    END
    PAGE("inspector/answers.js")
#embed "web/inspector/answers.js"
    END
    PAGE("inspector/api.js")
#embed "web/inspector/api.js"
    END
    PAGE("inspector/app.js")
#embed "web/inspector/app.js"
    END
    PAGE("inspector/charts.js")
#embed "web/inspector/charts.js"
    END
    PAGE("inspector/commands.js")
#embed "web/inspector/commands.js"
    END
    PAGE("inspector/connection.js")
#embed "web/inspector/connection.js"
    END
    PAGE("inspector/connections.css")
#embed "web/inspector/connections.css"
    END
    PAGE("inspector/connections.js")
#embed "web/inspector/connections.js"
    END
    PAGE("inspector/console-lines.js")
#embed "web/inspector/console-lines.js"
    END
    PAGE("inspector/console.css")
#embed "web/inspector/console.css"
    END
    PAGE("inspector/console.js")
#embed "web/inspector/console.js"
    END
    PAGE("inspector/database-cell.js")
#embed "web/inspector/database-cell.js"
    END
    PAGE("inspector/database-rows.js")
#embed "web/inspector/database-rows.js"
    END
    PAGE("inspector/database-sql.js")
#embed "web/inspector/database-sql.js"
    END
    PAGE("inspector/databases.css")
#embed "web/inspector/databases.css"
    END
    PAGE("inspector/databases.js")
#embed "web/inspector/databases.js"
    END
    PAGE("inspector/fields.js")
#embed "web/inspector/fields.js"
    END
    PAGE("inspector/files-columns.js")
#embed "web/inspector/files-columns.js"
    END
    PAGE("inspector/files.css")
#embed "web/inspector/files.css"
    END
    PAGE("inspector/files.js")
#embed "web/inspector/files.js"
    END
    PAGE("inspector/foreign.js")
#embed "web/inspector/foreign.js"
    END
    PAGE("inspector/format.js")
#embed "web/inspector/format.js"
    END
    PAGE("inspector/frames.js")
#embed "web/inspector/frames.js"
    END
    PAGE("inspector/icon.svg")
#embed "web/inspector/icon.svg"
    END
    PAGE("inspector/index.html")
#embed "web/inspector/index.html"
    END
    PAGE("inspector/inspector.css")
#embed "web/inspector/inspector.css"
    END
    PAGE("inspector/live.js")
#embed "web/inspector/live.js"
    END
    PAGE("inspector/machine.css")
#embed "web/inspector/machine.css"
    END
    PAGE("inspector/machine.js")
#embed "web/inspector/machine.js"
    END
    PAGE("inspector/notices.js")
#embed "web/inspector/notices.js"
    END
    PAGE("inspector/payload.js")
#embed "web/inspector/payload.js"
    END
    PAGE("inspector/recording.js")
#embed "web/inspector/recording.js"
    END
    PAGE("inspector/recordings.css")
#embed "web/inspector/recordings.css"
    END
    PAGE("inspector/recordings.js")
#embed "web/inspector/recordings.js"
    END
    PAGE("inspector/replay.js")
#embed "web/inspector/replay.js"
    END
    PAGE("inspector/requests.js")
#embed "web/inspector/requests.js"
    END
    PAGE("inspector/texts-en.js")
#embed "web/inspector/texts-en.js"
    END
    PAGE("inspector/texts.js")
#embed "web/inspector/texts.js"
    END
    PAGE("inspector/values.css")
#embed "web/inspector/values.css"
    END
    PAGE("inspector/values.js")
#embed "web/inspector/values.js"
    END
    PAGE("inspector/views-details.js")
#embed "web/inspector/views-details.js"
    END
    PAGE("inspector/views-flat.js")
#embed "web/inspector/views-flat.js"
    END
    PAGE("inspector/views-gl.js")
#embed "web/inspector/views-gl.js"
    END
    PAGE("inspector/views-pictures.js")
#embed "web/inspector/views-pictures.js"
    END
    PAGE("inspector/views-scene.js")
#embed "web/inspector/views-scene.js"
    END
    PAGE("inspector/views-stage.js")
#embed "web/inspector/views-stage.js"
    END
    PAGE("inspector/views-tree.js")
#embed "web/inspector/views-tree.js"
    END
    PAGE("inspector/views.css")
#embed "web/inspector/views.css"
    END
    PAGE("inspector/views.js")
#embed "web/inspector/views.js"
    END
    PAGE("inspector/waterfall.js")
#embed "web/inspector/waterfall.js"
    END
    PAGE("shared/base.css")
#embed "web/shared/base.css"
    END
    PAGE("shared/dictionary.js")
#embed "web/shared/dictionary.js"
    END
    PAGE("shared/dom.js")
#embed "web/shared/dom.js"
    END
    PAGE("shared/icons.js")
#embed "web/shared/icons.js"
    END
    PAGE("shared/server.js")
#embed "web/shared/server.js"
    END
    PAGE("shared/theme.css")
#embed "web/shared/theme.css"
    END
    PAGE("uploader/actions.js")
#embed "web/uploader/actions.js"
    END
    PAGE("uploader/api.js")
#embed "web/uploader/api.js"
    END
    PAGE("uploader/app.js")
#embed "web/uploader/app.js"
    END
    PAGE("uploader/changes.js")
#embed "web/uploader/changes.js"
    END
    PAGE("uploader/crumbs.js")
#embed "web/uploader/crumbs.js"
    END
    PAGE("uploader/dialogs.js")
#embed "web/uploader/dialogs.js"
    END
    PAGE("uploader/drag.js")
#embed "web/uploader/drag.js"
    END
    PAGE("uploader/drops.js")
#embed "web/uploader/drops.js"
    END
    PAGE("uploader/format.js")
#embed "web/uploader/format.js"
    END
    PAGE("uploader/icon.svg")
#embed "web/uploader/icon.svg"
    END
    PAGE("uploader/index.html")
#embed "web/uploader/index.html"
    END
    PAGE("uploader/intake.js")
#embed "web/uploader/intake.js"
    END
    PAGE("uploader/keys.js")
#embed "web/uploader/keys.js"
    END
    PAGE("uploader/kinds.js")
#embed "web/uploader/kinds.js"
    END
    PAGE("uploader/list.css")
#embed "web/uploader/list.css"
    END
    PAGE("uploader/list.js")
#embed "web/uploader/list.js"
    END
    PAGE("uploader/notices.js")
#embed "web/uploader/notices.js"
    END
    PAGE("uploader/order.js")
#embed "web/uploader/order.js"
    END
    PAGE("uploader/panels.css")
#embed "web/uploader/panels.css"
    END
    PAGE("uploader/paths.js")
#embed "web/uploader/paths.js"
    END
    PAGE("uploader/picker.js")
#embed "web/uploader/picker.js"
    END
    PAGE("uploader/preview.js")
#embed "web/uploader/preview.js"
    END
    PAGE("uploader/rate.js")
#embed "web/uploader/rate.js"
    END
    PAGE("uploader/rename.js")
#embed "web/uploader/rename.js"
    END
    PAGE("uploader/resumes.js")
#embed "web/uploader/resumes.js"
    END
    PAGE("uploader/selection.js")
#embed "web/uploader/selection.js"
    END
    PAGE("uploader/texts-en.js")
#embed "web/uploader/texts-en.js"
    END
    PAGE("uploader/texts-zh.js")
#embed "web/uploader/texts-zh.js"
    END
    PAGE("uploader/texts.js")
#embed "web/uploader/texts.js"
    END
    PAGE("uploader/tus.js")
#embed "web/uploader/tus.js"
    END
    PAGE("uploader/upload-row.js")
#embed "web/uploader/upload-row.js"
    END
    PAGE("uploader/uploads-panel.js")
#embed "web/uploader/uploads-panel.js"
    END
    PAGE("uploader/uploads.js")
#embed "web/uploader/uploads.js"
    END
};

size_t cduplex_pages_count(void) { return sizeof files / sizeof *files; }

cduplex_page_file cduplex_pages_file(size_t index) {
    return (cduplex_page_file){files[index].path, files[index].text, strlen((const char *)files[index].text)};
}
