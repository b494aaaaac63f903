// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The page of the uploader.
///
/// Nothing in it is inline and no name ever becomes markup, so that it runs under a policy that allows this origin's
/// files only. Its addresses are relative: it works wherever it is mounted, under a path that ends in a slash.
enum UploaderPage {
    static let files = PageFile.all(in: "uploader")

    static let contentSecurityPolicy = PageSite.policy(images: "blob:")

    /// The value of `Content-Security-Policy` for a file that is shown in the page: a document can do nothing at all.
    ///
    /// Browsers show no PDF in a sandbox, so that PDF gets a policy without; what else it may do is up to the reader
    /// that the browser has for it.
    /// - Parameter type: the media type that the file goes out with.
    /// - Returns: the directives, separated by semicolons.
    static func contentSecurityPolicy(ofView type: MediaType) -> String {
        let isPDF = type.rawValue == "application/pdf"
        return isPDF
            ? "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'"
            : "default-src 'none'; frame-ancestors 'self'; sandbox"
    }

    /// The page as the app wants it shown.
    static func site(_ options: UploaderOptions) -> PageSite {
        let texts = [
            "title": options.title, "header": options.header, "prologue": options.prologue,
            "epilogue": options.epilogue, "footer": options.footer, "logo": options.logo,
            "piece": "\(max(1, options.pieceSize.bytes))", "parallel": "\(max(1, options.parallelUploads))",
        ]
        return PageSite(files, values: texts, policy: contentSecurityPolicy)
    }
}
