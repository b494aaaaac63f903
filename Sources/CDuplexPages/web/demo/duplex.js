// SPDX-License-Identifier: Apache-2.0
// The page: an echo, events, requests, an upload, a form and a chat room.

import "./echo.js";
import "./feed.js";
import "./upload.js";
import "./form.js";
import "./chat.js";
