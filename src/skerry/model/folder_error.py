"""Why a folder cannot be made."""

__all__ = ["explain_folder"]


def explain_folder(error: OSError) -> str:
    """The reason in words: a file where a folder is wanted "exists", to the system.

    >>> explain_folder(FileExistsError(17, "File exists"))
    'there is a file, not a folder'
    """
    is_file = isinstance(error, FileExistsError | NotADirectoryError)
    return "there is a file, not a folder" if is_file else str(error.strerror or error)
