// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import HTTPTypes

// The files of a shared folder.

extension RouteBuilder {
    /// Answers GET and HEAD with the files of a shared folder, by its rules.
    ///
    /// ```swift
    /// let folder = try SharedFolder("pictures")
    /// server.files("/pictures", from: folder)
    /// ```
    ///
    /// As of a folder by its path, with these differences: clients that may not read there get 403; what the folder
    /// doesn't show is neither sent nor listed, whatever `FileOptions.showsHidden` says; the app is asked before a
    /// file is sent (``FolderOptions/before``, also for a folder or a missing file) and notified after it
    /// (``FolderOptions/after``). No cache between may keep the files. Each request opens its file.
    ///
    /// Browsers run nothing of what is in these files, as of what others may have put there: they are sent with
    /// `Content-Security-Policy: sandbox`. Pages of your own are served by the path of their folder.
    ///
    /// - Parameters:
    ///   - path: what paths begin with, such as `/pictures`; `/` for all.
    ///   - options: settings of these routes that differ from the server's, such as who is let in.
    ///   - folder: the folder.
    ///   - serving: how it is served. Default: as in `FileOptions`.
    public mutating func files(
        _ path: String,
        _ options: RouteOption...,
        from folder: SharedFolder,
        serving: FileOptions = FileOptions()
    ) {
        var serving = serving
        serving.showsHidden = folder.options.showsHidden
        files(path, options, from: folder.confined, by: folder, serving: serving)
    }
}
