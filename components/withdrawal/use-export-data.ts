import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useForm } from 'react-hook-form'
import { noAnswer } from '@/contract/errors'
import { needsPassword, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { call } from '../api/load-contract'
import { signInAgain } from '../session/sign-in-again'
import { saveFile } from '../ui/save-file'

interface Values {
  current_password: string
}

/** Confirms the password where it is asked for, and saves the file. */
export function useExportData(userId: string, ways: WaysToConfirm) {
  const { showError } = useErrorTexts()
  const router = useRouter()
  const form = useForm<Values>({ defaultValues: { current_password: '' } })
  const download = useMutation({
    mutationFn: async ({ current_password }: Values) => {
      if (needsPassword(ways)) await signInAgain(userId, current_password)
      const response = await call('exportData', { userId })
      // A download that breaks off is no file.
      const content = await response.blob().catch(() => {
        throw noAnswer()
      })
      saveFile(content, nameOf(response))
    },
    // The file would stay in memory.
    gcTime: 0,
    onSuccess: () => form.reset(),
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) router.refresh()
    },
  })
  return { form, submit: useProvenSubmit(form, ways, download.mutate), download }
}

const nameOf = ({ headers }: Response) =>
  /filename="([\w.-]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'account-data.zip'
