// The page: an echo, a chat room, events, an upload and a form, each in a module of its own.

import "./chat.js";
import "./echo.js";
import "./feed.js";
import "./form.js";
import "./upload.js";
