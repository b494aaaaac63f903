// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite struct FolderErrorTests {
    @Test(
        "Each says what clients are told",
        arguments: [
            (FolderError.Code.nothing, 404), (.noParent, 409), (.exists, 409), (.isFolder, 405), (.isFile, 409),
            (.sameplace, 403), (.notPermitted, 403), (.notAllowed, 415), (.badName, 403), (.tooLarge, 413),
            (.noSpace, 507), (.overQuota, 507), (.system, 500),
        ]
    )
    func statuses(code: FolderError.Code, status: Int) {
        let error = FolderError(code, "Words.")
        #expect(error.status.code == status && error.problem.detail == "Words." && error.problem.status == error.status)
    }

    @Test(
        "What the system says becomes one of them, in words of the folder's paths",
        arguments: [
            (ENOENT, FolderError.Code.nothing), (EEXIST, .exists), (EISDIR, .isFolder), (ENOSPC, .noSpace),
            (EDQUOT, .overQuota), (EACCES, .notPermitted), (EROFS, .notPermitted), (EIO, .system),
            (ENAMETOOLONG, .badName), (ENOTDIR, .noParent), (EINVAL, .sameplace), (EFBIG, .tooLarge),
        ]
    )
    func codes(errno: Int32, code: FolderError.Code) throws {
        let error = FolderError(
            SocketError(.system, message: "/secret/way", errno: errno),
            try #require(FolderPath("a/b"))
        )
        #expect(error.code == code && !error.message.contains("secret") && error.message.hasSuffix("."))
    }
}
